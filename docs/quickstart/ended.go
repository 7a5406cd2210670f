// Which access tokens were ended: start Follow in a goroutine, and ask IsEnded once a token was verified.
package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"
)

type entry struct {
	Session, Account, Key string
	Before                *int64
	Until                 int64
}

type rule struct{ before, until int64 }

type Ended struct {
	mutex sync.RWMutex
	rules map[string]rule
}

func (ended *Ended) Follow(url, token string) {
	for cursor := ""; ; {
		if answered, err := ended.ask(url, token, cursor); err == nil {
			cursor = answered
		} else {
			time.Sleep(5 * time.Second) // it goes on with what it knows
		}
	}
}

func (ended *Ended) ask(url, token, cursor string) (string, error) {
	query := ""
	if cursor != "" {
		query = "?after=" + cursor + "&wait=25"
	}
	request, err := http.NewRequest("GET", url+"/api/v1/auth/sessions/ended"+query, nil)
	if err != nil {
		return "", err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := (&http.Client{Timeout: 35 * time.Second}).Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	var answer struct {
		Cursor string
		Ended  []entry
	}
	if response.StatusCode != 200 {
		return "", fmt.Errorf("status %d", response.StatusCode)
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return "", err
	}
	ended.take(answer.Ended)
	return answer.Cursor, nil
}

func (ended *Ended) take(entries []entry) {
	ended.mutex.Lock()
	defer ended.mutex.Unlock()
	if ended.rules == nil {
		ended.rules = map[string]rule{}
	}
	for _, each := range entries {
		what, before := each.Session+each.Account+each.Key, int64(1<<62)
		if each.Before != nil {
			before = *each.Before
		}
		known := ended.rules[what]
		ended.rules[what] = rule{larger(known.before, before), larger(known.until, each.Until)}
	}
	for what, known := range ended.rules {
		if known.until < time.Now().Unix() {
			delete(ended.rules, what)
		}
	}
}

func (ended *Ended) IsEnded(sid, sub, kid string, iat int64) bool {
	ended.mutex.RLock()
	defer ended.mutex.RUnlock()
	for _, what := range []string{sid, sub, kid, ""} {
		if known, found := ended.rules[what]; found && iat < known.before {
			return true
		}
	}
	return false
}

func larger(one, other int64) int64 {
	if one > other {
		return one
	}
	return other
}
