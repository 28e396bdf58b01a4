package s3_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deployster/internal/base/sharedlog"
	"deployster/internal/runtime/stores/s3"
	"deployster/internal/testkit/services"
)

// home is the directory of a person who has files of AWS in it, and no variables but some.
func home(t *testing.T, files, variables map[string]string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".aws"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, ".aws", name), []byte(strings.ReplaceAll(text, "HOME", dir)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", dir)
	for _, name := range []string{"ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "SESSION_TOKEN", "PROFILE", "REGION", "DEFAULT_REGION", "CONFIG_FILE",
		"SHARED_CREDENTIALS_FILE"} {
		t.Setenv("AWS_"+name, variables["AWS_"+name])
	}
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
}

// What people have in their files and variables of AWS is found as AWS's own tools find it.
func TestStore_FilesOfAWS(t *testing.T) {
	const (
		keys    = "aws_access_key_id = " + services.AccessKey + "\naws_secret_access_key = " + services.SecretKey + "\n"
		wrong   = "aws_access_key_id = wrong\naws_secret_access_key = wrong\n"
		region  = "region = eu-central-1\n"
		process = "credential_process = sh HOME/.aws/keys\n"
		printed = `echo '{"Version": 1, "AccessKeyId": "` + services.AccessKey + `", "SecretAccessKey": "` + services.SecretKey + `"}'`
	)
	address := services.S3(t)
	for name, c := range map[string]struct {
		files, variables map[string]string
		profile          string
	}{
		"credentials, and the region in config": {files: map[string]string{
			"credentials": "[default]\n" + keys, "config": "[default]\n" + region}},
		"a process in config": {files: map[string]string{"config": "[default]\n" + region + process, "keys": printed}},
		"a process in the config of a profile": {profile: "ci", files: map[string]string{"credentials": "[default]\n" + wrong,
			"config": "[default]\nregion = us-west-2\n[profile ci]\n" + region + process, "keys": printed}},
		"the profile of a variable": {variables: map[string]string{"AWS_PROFILE": "ci"}, files: map[string]string{
			"credentials": "[default]\n" + wrong + "[ci]\n" + keys, "config": "[profile ci]\n" + region}},
		"keys in config": {files: map[string]string{"config": "[default]\n" + region + keys}},
		"the region of a variable": {variables: map[string]string{"AWS_REGION": "eu-central-1"}, files: map[string]string{
			"credentials": "[default]\n" + keys, "config": "[default]\nregion = us-west-2\n"}},
		"the other variable": {variables: map[string]string{"AWS_DEFAULT_REGION": "eu-central-1"}, files: map[string]string{
			"credentials": "[default]\n" + keys}},
	} {
		t.Run(name, func(t *testing.T) {
			home(t, c.files, c.variables)
			s, err := s3.New(s3.Options{Bucket: "state", Prefix: sharedlog.NewID(), Endpoint: address, Insecure: true, PathStyle: true,
				Profile: c.profile})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Create(t.Context(), "log/1", []byte("x")); err != nil {
				t.Error(err)
			}
		})
	}
}

// A profile that is named and is not there is said, and no other is taken.
func TestStore_NoSuchProfile(t *testing.T) {
	home(t, map[string]string{"credentials": "[default]\naws_access_key_id = a\naws_secret_access_key = b\n"}, nil)
	s, err := s3.New(s3.Options{Bucket: "state", Endpoint: "127.0.0.1:1", Insecure: true, Region: "eu-central-1", Profile: "ci"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.List(t.Context(), "log/"); err == nil || !strings.Contains(err.Error(), "the profile ci of AWS has no credentials") {
		t.Errorf("it is told %v", err)
	}
}

// signedFor is a server whose bucket is in a region, and that lets nobody ask which one. Who signs
// for another one is told.
func signedFor(region string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		code, status := "", 0
		switch {
		case r.URL.Query().Has("location"):
			code, status = "AccessDenied", http.StatusForbidden
		case !strings.Contains(r.Header.Get("Authorization"), "/"+region+"/s3/"):
			code, status = "AuthorizationHeaderMalformed", http.StatusBadRequest
		default:
			w.Header().Set("ETag", `"1"`)
			return
		}
		told := ""
		if code != "AccessDenied" {
			told = "<Region>" + region + "</Region>"
		}
		w.WriteHeader(status)
		fmt.Fprintf(w, "<Error><Code>%s</Code><Message>no</Message>%s</Error>", code, told)
	})
}

// Where the region cannot be asked for, it is what the server says when it refuses, or what a
// variable says.
func TestStore_RegionIsNotFound(t *testing.T) {
	server := httptest.NewServer(signedFor("eu-west-3"))
	defer server.Close()
	for name, variables := range map[string]map[string]string{"the server": {}, "a variable": {"AWS_REGION": "eu-west-3"}} {
		home(t, map[string]string{"credentials": "[default]\naws_access_key_id = a\naws_secret_access_key = b\n"}, variables)
		s, err := s3.New(s3.Options{Bucket: "state", Endpoint: strings.TrimPrefix(server.URL, "http://"), Insecure: true, PathStyle: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Create(t.Context(), "log/1", []byte("x")); err != nil {
			t.Errorf("%s says it: %v", name, err)
		}
	}
}

// A request that did not arrive as a whole is answered with 400 too, and is tried again.
func TestStore_WhatDidNotArriveIsNotRefused(t *testing.T) {
	home(t, map[string]string{"credentials": "[default]\naws_access_key_id = a\naws_secret_access_key = b\n"}, nil)
	for code, refused := range map[string]bool{"RequestTimeout": false, "IncompleteBody": false, "InvalidArgument": true} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, "<Error><Code>%s</Code><Message>no</Message></Error>", code)
		}))
		s, err := s3.New(s3.Options{Bucket: "state", Endpoint: strings.TrimPrefix(server.URL, "http://"), Insecure: true, Region: "eu-central-1", PathStyle: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Create(t.Context(), "log/1", []byte("x")); err == nil || errors.Is(err, sharedlog.ErrDenied) != refused {
			t.Errorf("%s: %v", code, err)
		}
		server.Close()
	}
}
