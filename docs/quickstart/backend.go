// go run backend.go: the standard library is enough.
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math/big"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

func env(name, fallback string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return fallback
}

var (
	issuer = env("POTERNE_URL", "http://localhost:8080")
	page   = env("PAGE_ORIGIN", "http://localhost:5173")
)

// The keys cannot be fetched: an outage is no reason to sign people out.
var errNoKeys = errors.New("no keys")

var client = http.Client{Timeout: 5 * time.Second}

// Keys by their id, kept for five minutes, and fetched at most once a minute for an unknown one.
type keySet struct {
	mutex   sync.Mutex
	fetched time.Time
	keys    map[string]*ecdsa.PublicKey
}

func number(text string) *big.Int {
	bytes, _ := base64.RawURLEncoding.DecodeString(text)
	return new(big.Int).SetBytes(bytes)
}

func (set *keySet) find(kid string) (*ecdsa.PublicKey, error) {
	set.mutex.Lock()
	defer set.mutex.Unlock()
	if time.Since(set.fetched) > 5*time.Minute || (set.keys[kid] == nil && time.Since(set.fetched) > time.Minute) {
		answer, err := client.Get(issuer + "/.well-known/jwks.json")
		if err != nil {
			return nil, errNoKeys
		}
		defer answer.Body.Close()
		var published struct{ Keys []struct{ Kid, X, Y string } }
		if answer.StatusCode != 200 || json.NewDecoder(answer.Body).Decode(&published) != nil {
			return nil, errNoKeys
		}
		set.keys = map[string]*ecdsa.PublicKey{}
		for _, key := range published.Keys {
			set.keys[key.Kid] = &ecdsa.PublicKey{Curve: elliptic.P256(), X: number(key.X), Y: number(key.Y)}
		}
		set.fetched = time.Now()
	}
	if key := set.keys[kid]; key != nil {
		return key, nil
	}
	return nil, errors.New("unknown key")
}

var keys keySet

type claims struct {
	Iss, Aud, Sub, Sid string
	Exp                int64
}

// The claims of an access token, or an error where it is not valid, or the keys cannot be fetched.
func verify(authorization string) (*claims, error) {
	if scheme, token, found := strings.Cut(authorization, " "); found && strings.EqualFold(scheme, "bearer") {
		authorization = strings.TrimSpace(token)
	}
	parts := strings.Split(authorization, ".")
	if len(parts) != 3 {
		return nil, errors.New("not a token")
	}
	var header struct{ Alg, Typ, Kid string }
	var found claims
	for index, target := range []any{&header, &found} {
		bytes, err := base64.RawURLEncoding.DecodeString(parts[index])
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(bytes, target); err != nil {
			return nil, err
		}
	}
	if header.Alg != "ES256" || header.Typ != "at+jwt" {
		return nil, errors.New("not an access token")
	}
	key, err := keys.find(header.Kid)
	if err != nil {
		return nil, err
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || len(signature) != 64 {
		return nil, errors.New("not a signature")
	}
	digest := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	r, s := new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])
	if !ecdsa.Verify(key, digest[:], r, s) {
		return nil, errors.New("wrong signature")
	}
	if found.Iss != issuer || found.Aud != issuer || found.Sub == "" || found.Sid == "" || time.Now().Unix() >= found.Exp {
		return nil, errors.New("not valid here, or not any more")
	}
	return &found, nil
}

func main() {
	http.HandleFunc("/", func(response http.ResponseWriter, request *http.Request) {
		// The page runs at another address, and sends a header of its own: browsers ask first.
		response.Header().Set("Access-Control-Allow-Origin", page)
		response.Header().Set("Access-Control-Allow-Headers", "authorization")
		if request.Method == http.MethodOptions {
			response.WriteHeader(http.StatusNoContent)
			return
		}
		found, err := verify(request.Header.Get("Authorization"))
		if errors.Is(err, errNoKeys) {
			response.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		if err != nil {
			response.WriteHeader(http.StatusUnauthorized)
			return
		}
		response.Header().Set("Content-Type", "application/json")
		json.NewEncoder(response).Encode(map[string]string{"user": found.Sub})
	})
	http.ListenAndServe("127.0.0.1:"+env("PORT", "3000"), nil)
}
