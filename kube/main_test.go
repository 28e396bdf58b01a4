package main

import (
	"bufio"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/runner"
	"deployster/kube/internal/api"
	"deployster/kube/internal/fakeapi"
	"deployster/kube/internal/place"
)

// program is its name beside deployster.
const program = "deployster-kube"

// TestMain lets the test binary be the program itself, whose patience with other programs is a second.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) != program && !slices.Contains(os.Args, api.RunPlugin) {
		os.Exit(m.Run())
	}
	if err := run(timing{place.DefaultTiming(), remote.DefaultTiming(), time.Second}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// The client refuses another version.
func TestVersion_IsThatOfDeployster(t *testing.T) {
	source, err := os.ReadFile("../internal/base/version/version.go")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(source), `= "`+version+`"`) {
		t.Errorf("deployster has another version than %s", version)
	}
}

// user is a directory with a kubeconfig, and the cluster of it.
type user struct {
	dir     string
	address string
	root    []byte // the certificate of the API server
	program string
}

// newUser starts an API server that knows a token, and one client by its certificate, which is in the directory.
func newUser(t *testing.T) *user {
	t.Helper()
	u := &user{dir: t.TempDir()}
	certificate, key := selfSigned(t)
	clients := x509.NewCertPool()
	clients.AppendCertsFromPEM(certificate)
	fake := fakeapi.Local(nil)
	t.Cleanup(fake.Close)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer hunter2" && len(r.TLS.VerifiedChains) == 0 {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fake.ServeHTTP(w, r)
	}))
	server.TLS = &tls.Config{ClientAuth: tls.VerifyClientCertIfGiven, ClientCAs: clients}
	server.StartTLS()
	t.Cleanup(server.Close)
	u.address = server.URL
	u.root = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	u.write(t, "root.crt", string(u.root))
	u.write(t, "client.crt", string(certificate))
	u.write(t, "client.key", string(key))
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	u.program = filepath.Join(u.dir, program)
	if err := os.Symlink(self, u.program); err != nil {
		t.Fatal(err)
	}
	return u
}

func (u *user) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(u.dir, name), []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}

// config writes a kubeconfig whose users are name and settings.
func (u *user) config(t *testing.T, name, current string, users ...string) {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "apiVersion: v1\nkind: Config\ncurrent-context: %q\nclusters: [{name: c, cluster: {server: %q, certificate-authority: root.crt}}]\n",
		current, u.address)
	b.WriteString("users:\n")
	for i := 0; i < len(users); i += 2 {
		fmt.Fprintf(&b, "- {name: %s, user: {%s}}\n", users[i], users[i+1])
	}
	b.WriteString("contexts:\n")
	for i := 0; i < len(users); i += 2 {
		fmt.Fprintf(&b, "- {name: %[1]s, context: {cluster: c, user: %[1]s}}\n", users[i])
	}
	u.write(t, name, b.String())
}

// dial starts the program and greets it, as deployster does, and returns why that fails.
func (u *user) dial(t *testing.T, config, context string) string {
	t.Helper()
	block, err := json.Marshal(remote.Block{Cluster: runner.Cluster{Namespace: fakeapi.Namespace, Kubeconfig: filepath.Join(u.dir, config), Context: context}})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(u.program)
	cmd.WaitDelay = time.Second
	var printed bytes.Buffer
	cmd.Stderr = &printed
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	read, write := io.Pipe()
	cmd.Stdout = write
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		err := cmd.Wait()
		_ = write.CloseWithError(io.EOF) // never fails
		ended <- err
	}()
	out := bufio.NewReader(read)
	if _, err := in.Write(append(block, '\n')); err != nil {
		t.Fatal(err)
	}
	ready, err := out.ReadString('\n')
	if err != nil {
		<-ended
		return printed.String()
	}
	if ready != remote.Ready+"\n" {
		t.Errorf("it prints %q", ready)
	}
	client, err := remote.NewClient(t.Context(), stdio{out, in, in}, remote.Hello{Build: version}, remote.DefaultTiming())
	if client != nil {
		_ = client.Close() // it has no Pods
	}
	_ = in.Close() // it may be closed
	failed := <-ended
	if err != nil {
		return err.Error()
	}
	if failed != nil {
		t.Errorf("%v: %s", failed, printed.String())
	}
	return ""
}

// plugin is the user of a kubeconfig whose program is a file beside it.
const plugin = `exec: {apiVersion: client.authentication.k8s.io/v1, command: ./login, args: [get-token], interactiveMode: IfAvailable, installHint: "Get it from acme."}`

// What a kubeconfig may hold: a program that makes a token or a certificate, files, several contexts. What fails has its reason.
func TestKubeconfig_Kinds(t *testing.T) {
	u := newUser(t)
	made := func(status string) string {
		return "#!/bin/sh\ncat <<'END'\n{\"apiVersion\": \"client.authentication.k8s.io/v1\", \"kind\": \"ExecCredential\", \"status\": {" + status + "}}\nEND\n"
	}
	pem := func(name string) string {
		text, err := os.ReadFile(filepath.Join(u.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(string(text), "\n", `\n`)
	}
	u.write(t, "token", "hunter2\n")
	u.write(t, "old", "hunter1\n")
	const waits = "a program that waits"
	certificate := "client-certificate: client.crt, client-key: client.key"
	for i, c := range []struct {
		name, user, login string
		want              []string // none = it connects
	}{
		{"a token", "token: hunter2", "", nil},
		{"another token", "token: hunter1", "", []string{"does not accept the credentials", "kubectl auth whoami"}},
		{"a file with a token", "tokenFile: token", "", nil},
		{"a file with another token", "tokenFile: old", "", []string{"does not accept the credentials"}},
		{"no file with a token", "tokenFile: absent", "", []string{"absent: no such file"}},
		{"a certificate", certificate, "", nil},
		{"no file with a key", "client-certificate: client.crt, client-key: absent", "", []string{"the kubeconfig cannot be used", "unable to read client-key", "absent"}},
		{"a program that makes a token", plugin, made(`"token": "hunter2"`), nil},
		{"a program that makes a certificate", plugin, made(`"clientCertificateData": "` + pem("client.crt") + `", "clientKeyData": "` + pem("client.key") + `"`), nil},
		{"a program that warns", plugin, made(`"token": "hunter2"`) + "echo 'a newer version exists' >&2\n", nil},
		{"a program that makes another token", plugin, made(`"token": "hunter1"`), []string{"does not accept the credentials"}},
		{"a program that fails", plugin, "#!/bin/sh\necho 'The session has expired.' >&2\necho 'Log in: acme login' >&2\nexit 3\n",
			[]string{" of the kubeconfig makes no credentials: exit status 3: The session has expired. Log in: acme login", "kubectl auth whoami"}},
		{"a program that makes nothing", plugin, made(""), []string{" of the kubeconfig makes no credentials: ", "didn't return a token", "kubectl auth whoami"}},
		{"a program that prints something else", plugin, "#!/bin/sh\necho Welcome to acme\n", []string{" of the kubeconfig makes no credentials: what it prints is not an ExecCredential as JSON", "kubectl auth whoami"}},
		{waits, plugin, "#!/bin/sh\necho 'Open https://acme.example/device' >&2\nsleep 1000 & echo $! >" + u.dir + "/waits\nwait\n",
			[]string{"makes no credentials: it has not ended within 1s. Open https://acme.example/device", "kubectl auth whoami"}},
		{"a program that is not there", plugin, "", []string{"makes no credentials: it is not installed, or not on the PATH", "Get it from acme.", "kubectl auth whoami"}},
		{"a program that needs a terminal", strings.Replace(plugin, "IfAvailable", "Always", 1), made(`"token": "hunter2"`),
			[]string{" of the kubeconfig makes no credentials", "standard input is not a terminal", "kubectl auth whoami"}},
		{"a program of an old protocol", strings.Replace(plugin, "k8s.io/v1", "k8s.io/v1alpha1", 1), made(""), []string{"the kubeconfig cannot be used", "v1alpha1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			login := fmt.Sprintf("login-%d", i)
			if c.login != "" {
				u.write(t, login, c.login)
			}
			u.config(t, fmt.Sprintf("config-%d", i), "", "first", "token: hunter1", "second", strings.Replace(c.user, "./login", "./"+login, 1))
			got := u.dial(t, fmt.Sprintf("config-%d", i), "second")
			if (got == "") != (c.want == nil) {
				t.Errorf("it reports %q", got)
			}
			for _, want := range c.want {
				if !strings.Contains(got, want) || strings.HasPrefix(got, "API server: ") {
					t.Errorf("it reports %q, without %q", got, want)
				}
			}
			if pid, err := os.ReadFile(filepath.Join(u.dir, "waits")); c.name == waits && (err != nil || alive(string(pid))) {
				t.Errorf("what the program has started still runs: %s, %v", pid, err)
			}
		})
	}
}

// alive reports whether a process runs.
func alive(pid string) bool {
	line, _ := os.ReadFile("/proc/" + strings.TrimSpace(pid) + "/cmdline") // it may have ended
	return len(line) > 0
}

// The context of the block, else the current one, decides; an unknown one is reported with those that there are.
func TestKubeconfig_Contexts(t *testing.T) {
	u := newUser(t)
	for _, c := range []struct{ current, context, want string }{
		{"prod", "", ""},
		{"test", "prod", ""},
		{"test", "", "does not accept the credentials"},
		{"prod", "prodd", `has no context "prodd", but prod, test`},
		{"", "", "has no current context. Name one of prod, test in `context` of the block"},
	} {
		u.config(t, "config", c.current, "prod", "token: hunter2", "test", "token: hunter1")
		if got := u.dial(t, "config", c.context); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%+v: it reports %q", c, got)
		}
	}
	u.write(t, "config", "apiVersion: v1\nkind: Config\n")
	if got := u.dial(t, "config", ""); !strings.Contains(got, "config has no cluster, and this command runs in none") {
		t.Errorf("an empty file: it reports %q", got)
	}
	u.write(t, "config", "{")
	if got := u.dial(t, "config", ""); !strings.Contains(got, "the kubeconfig cannot be used: error loading config file") {
		t.Errorf("a broken file: it reports %q", got)
	}
}

// selfSigned makes a certificate of a client, and its key.
func selfSigned(t *testing.T) (certificate, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ann"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, BasicConstraintsValid: true, IsCA: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})
}
