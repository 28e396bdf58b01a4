package services

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// The credentials of the S3 server.
const (
	AccessKey = "deployster-test"
	SecretKey = "deployster-test-secret"
)

// S3 starts a server that speaks S3, with a bucket named state, and returns its address on
// loopback. The test's environment has its credentials.
func S3(t testing.TB) (address string) {
	t.Helper()
	program := gateway(t)
	data := t.TempDir()
	if err := os.Mkdir(filepath.Join(data, "state"), 0o755); err != nil {
		t.Fatal(err)
	}
	address = "127.0.0.1:" + freePort(t)
	c := exec.Command(program, "--port", address, "--access", AccessKey, "--secret", SecretKey, "--region", "eu-central-1", "--quiet",
		"posix", data)
	c.Dir, c.SysProcAttr = data, &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	log := start(t, c, syscall.SIGKILL)
	for range 600 {
		response, err := http.Get("http://" + address + "/")
		if err == nil {
			_ = response.Body.Close()
			return address
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("the S3 server does not answer:\n%s", log())
	return ""
}

// Credentials are the variables with those of the S3 server.
func Credentials() map[string]string {
	return map[string]string{"AWS_ACCESS_KEY_ID": AccessKey, "AWS_SECRET_ACCESS_KEY": SecretKey}
}

// gateway finds the S3 server beside the programs of this module.
func gateway(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != "/"; dir = filepath.Dir(dir) {
		if path := filepath.Join(dir, "bin", "versitygw"); executable(path) {
			return path
		}
	}
	t.Fatal("there is no bin/versitygw: `.ci/setup test` builds it")
	return ""
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode()&0o111 != 0
}
