// PORT=3000 go run receiver.go: takes the webhooks of poterne. Keep users and ids in your database, in one transaction.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

var key, _ = base64.StdEncoding.DecodeString(strings.TrimPrefix(os.Getenv("APP_HOOK_SECRET"), "whsec_"))
var users, seen sync.Map

func isSigned(header http.Header, body []byte) (signed bool) {
	timestamp, _ := strconv.ParseInt(header.Get("webhook-timestamp"), 10, 64)
	digest := hmac.New(sha256.New, key)
	fmt.Fprintf(digest, "%s.%d.%s", header.Get("webhook-id"), timestamp, body)
	wanted := []byte("v1," + base64.StdEncoding.EncodeToString(digest.Sum(nil)))
	for _, one := range strings.Split(header.Get("webhook-signature"), " ") {
		signed = signed || hmac.Equal([]byte(one), wanted)
	}
	return signed && time.Since(time.Unix(timestamp, 0)).Abs() < 5*time.Minute
}

func main() {
	fmt.Println(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body)
		var event struct {
			Type string
			Data struct {
				Account      string
				AccountState json.RawMessage `json:"account_state"`
			}
		}
		if !isSigned(request.Header, body) || json.Unmarshal(body, &event) != nil {
			response.WriteHeader(http.StatusUnauthorized)
		} else if _, isOld := seen.LoadOrStore(request.Header.Get("webhook-id"), true); !isOld {
			if event.Data.Account != "" && event.Data.AccountState != nil {
				users.Store(event.Data.Account, event.Data.AccountState)
			}
			fmt.Println(event.Type, event.Data.Account, string(event.Data.AccountState))
		}
	})))
}
