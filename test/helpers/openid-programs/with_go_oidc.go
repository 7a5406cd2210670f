// go-oidc: prints where the browser goes, reads where it came back, prints who signed in.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/url"
	"os"

	oidc "github.com/coreos/go-oidc"
	"golang.org/x/oauth2"
)

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	ctx := context.Background()
	provider, err := oidc.NewProvider(ctx, os.Getenv("ISSUER"))
	must(err)
	config := oauth2.Config{
		ClientID:     os.Getenv("ID"),
		ClientSecret: os.Getenv("SECRET"),
		Endpoint:     provider.Endpoint(),
		RedirectURL:  os.Getenv("REDIRECT"),
		Scopes:       []string{oidc.ScopeOpenID, "profile", "email"},
	}
	fmt.Println(config.AuthCodeURL("state", oidc.Nonce("nonce")))
	line, err := bufio.NewReader(os.Stdin).ReadString('\n')
	must(err)
	back, err := url.Parse(line[:len(line)-1])
	must(err)
	if back.Query().Get("state") != "state" {
		log.Fatal("another state")
	}
	token, err := config.Exchange(ctx, back.Query().Get("code"))
	must(err)
	verifier := provider.Verifier(&oidc.Config{ClientID: config.ClientID})
	idToken, err := verifier.Verify(ctx, token.Extra("id_token").(string))
	must(err)
	must(idToken.VerifyAccessToken(token.AccessToken))
	if idToken.Nonce != "nonce" {
		log.Fatal("another nonce")
	}
	info, err := provider.UserInfo(ctx, oauth2.StaticTokenSource(token))
	must(err)
	if info.Subject != idToken.Subject {
		log.Fatal("another subject")
	}
	must(json.NewEncoder(os.Stdout).Encode(map[string]string{"email": info.Email}))
}
