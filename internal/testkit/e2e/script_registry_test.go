package e2e

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// dockerRegistry is Debian's: a real registry, the one that docker's own was
// made of.
const dockerRegistry = "/usr/bin/docker-registry"

// registryKey is where a script keeps its registry.
type registryKey struct{}

// registry is a real registry behind a door of ours, which can disturb what
// goes through it.
type registry struct {
	dir   string
	open  string // the address of a registry that lets everybody in, to fill it
	inner string // the address of the registry that the door leads to
	door  *door
	ca    *authority
}

// startRegistry starts a registry on this machine. What it says in the
// environment: REGISTRY, its name; REGISTRY_LOG, what was asked of it.
func startRegistry(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("usage: registry [password|token] [tls]")
	}
	r := ts.Value(registryKey{}).(*registry)
	r.dir = ts.MkAbs(".registry")
	ts.Check(os.MkdirAll(r.dir, 0o755))
	r.open = serveRegistry(ts, r.dir, "open", "")
	r.inner = r.open
	r.ca = newAuthority(ts)
	secure := false
	for _, arg := range args {
		switch arg {
		case "password":
			// The hash is that of "geheim".
			ts.Check(os.WriteFile(r.dir+"/htpasswd", []byte("user:$2y$05$6oUdc6eVy/hNY5c3kWQXzuIE4FEBVcQbqfu25BPJGWAFqlI.fSC72\n"), 0o600))
			r.inner = serveRegistry(ts, r.dir, "closed", fmt.Sprintf("auth: {htpasswd: {realm: test, path: %q}}\n", r.dir+"/htpasswd"))
		case "token":
			tokens := serveTokens(ts, r.ca)
			r.inner = serveRegistry(ts, r.dir, "closed",
				fmt.Sprintf("auth: {token: {realm: %q, service: test, issuer: test, rootcertbundle: %q}}\n", tokens, r.ca.file(ts, r.dir)))
		case "tls":
			secure = true
		default:
			ts.Fatalf("no such kind of registry: %s", arg)
		}
	}
	r.door = &door{to: r.inner, log: ts.MkAbs("registry.log")}
	server := httptest.NewUnstartedServer(r.door)
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // clients that do not trust it are the point
	if secure {
		// Its name is one that this machine cannot look up: a proxy knows it.
		server.TLS = &tls.Config{Certificates: []tls.Certificate{r.ca.issue(ts, "registry.test")}}
		server.StartTLS()
		ts.Setenv("REGISTRY", "registry.test")
		ts.Setenv("HTTPS_PROXY", "http://"+serveProxy(ts, map[string]string{"registry.test:443": server.Listener.Addr().String()}))
	} else {
		server.Start()
		ts.Setenv("REGISTRY", server.Listener.Addr().String())
	}
	ts.Defer(server.Close)
	ts.Setenv("REGISTRY_CA", r.ca.file(ts, r.dir))
	ts.Setenv("REGISTRY_LOG", r.door.log)
}

// serveRegistry starts one registry process over the storage that all of a
// script share, and gives its address.
func serveRegistry(ts *testscript.TestScript, dir, name, more string) string {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	address := free.Addr().String()
	ts.Check(free.Close())
	config := fmt.Sprintf("version: 0.1\nstorage: {filesystem: {rootdirectory: %q}}\nhttp: {addr: %q, secret: test}\nlog: {level: warn, accesslog: {disabled: true}}\n%s",
		dir+"/data", address, more)
	ts.Check(os.WriteFile(filepath.Join(dir, name+".yml"), []byte(config), 0o600))
	printed, err := os.Create(filepath.Join(dir, name+".log"))
	ts.Check(err)
	cmd := exec.Command(dockerRegistry, "serve", filepath.Join(dir, name+".yml"))
	cmd.Env = []string{"OTEL_TRACES_EXPORTER=none", "PATH=" + os.Getenv("PATH")}
	cmd.Stdout, cmd.Stderr = printed, printed
	ts.Check(cmd.Start())
	ts.Check(printed.Close())
	ts.Defer(func() {
		_ = cmd.Process.Kill() // it may have ended by itself
		_ = cmd.Wait()
	})
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if c, err := net.Dial("tcp", address); err == nil {
			ts.Check(c.Close())
			return address
		}
		if time.Now().After(end) {
			b, _ := os.ReadFile(printed.Name())
			ts.Fatalf("the registry does not listen: %s", b)
		}
	}
}

// pushImage puts an image of a directory into the registry, as others do it:
// by HTTP, without any code of the product.
func pushImage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: push NAME:TAG DIR [CONFIG [index]]")
	}
	r := ts.Value(registryKey{}).(*registry)
	dir := ts.MkAbs(args[1])
	if exists(dir + "/type") {
		ts.Check(os.Chmod(dir+"/type", 0o755))
		addBusybox(ts, dir)
	}
	layer, err := tarOf(os.DirFS(dir))
	ts.Check(err)
	image := map[string]any{"os": "linux", "architecture": runtime.GOARCH, "config": map[string]any{"Entrypoint": []string{"/type"}},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{digestOf(layer)}}}
	if len(args) >= 3 {
		ts.Check(json.Unmarshal([]byte(args[2]), &image))
	}
	config := asJSON(ts, image)
	repository, tag, _ := strings.Cut(args[0], ":")
	manifest := asJSON(ts, map[string]any{"schemaVersion": 2, "mediaType": manifestType,
		"config": r.blob(ts, repository, "application/vnd.oci.image.config.v1+json", config),
		"layers": []any{r.blob(ts, repository, "application/vnd.oci.image.layer.v1.tar", layer)}})
	if len(args) < 4 {
		ts.Setenv("PUSHED", r.manifest(ts, repository, tag, manifestType, manifest))
		return
	}
	named := map[string]any{"mediaType": manifestType, "size": len(manifest), "digest": r.manifest(ts, repository, tag+"-part", manifestType, manifest),
		"platform": map[string]any{"os": image["os"], "architecture": image["architecture"]}}
	ts.Setenv("PUSHED", r.manifest(ts, repository, tag, indexType, asJSON(ts, map[string]any{"schemaVersion": 2, "mediaType": indexType,
		"manifests": []any{named}})))
}

const indexType = "application/vnd.oci.image.index.v1+json"

const manifestType = "application/vnd.oci.image.manifest.v1+json"

// blob uploads one part, and describes it.
func (r *registry) blob(ts *testscript.TestScript, repository, mediaType string, content []byte) map[string]any {
	begin, err := http.Post("http://"+r.open+"/v2/"+repository+"/blobs/uploads/", "", nil)
	ts.Check(err)
	ts.Check(begin.Body.Close())
	at, err := begin.Location()
	ts.Check(err)
	query := at.Query()
	query.Set("digest", digestOf(content))
	at.RawQuery = query.Encode()
	r.put(ts, at.String(), "application/octet-stream", content)
	return map[string]any{"mediaType": mediaType, "digest": digestOf(content), "size": len(content)}
}

// manifest uploads a manifest under a tag, and gives its digest.
func (r *registry) manifest(ts *testscript.TestScript, repository, tag, mediaType string, content []byte) string {
	r.put(ts, "http://"+r.open+"/v2/"+repository+"/manifests/"+tag, mediaType, content)
	return digestOf(content)
}

func (r *registry) put(ts *testscript.TestScript, url, mediaType string, content []byte) {
	request, err := http.NewRequest(http.MethodPut, url, bytes.NewReader(content))
	ts.Check(err)
	request.Header.Set("Content-Type", mediaType)
	answer, err := http.DefaultClient.Do(request)
	ts.Check(err)
	text, _ := io.ReadAll(answer.Body)
	ts.Check(answer.Body.Close())
	if answer.StatusCode != http.StatusCreated {
		ts.Fatalf("PUT %s: %s: %s", url, answer.Status, text)
	}
}

// expand copies a file, with the variables of the script in it.
func expand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: expand FROM TO")
	}
	text := os.Expand(ts.ReadFile(args[0]), ts.Getenv)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o600))
}

// disturb makes the door misbehave.
func disturb(ts *testscript.TestScript, neg bool, args []string) {
	d := ts.Value(registryKey{}).(*registry).door
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cut, d.busy, d.evil, d.gone, d.shut, d.deny = 0, 0, false, false, false, false
	for _, arg := range args {
		var n int
		switch {
		case arg == "evil": // one byte of every blob is another one
			d.evil = true
		case arg == "deny": // everything is forbidden
			d.deny = true
		case arg == "off": // nothing answers
			d.shut, d.gone = true, true
		case arg == "gone": // after the cut, nothing works any more
			d.gone = true
		case sscan(arg, "cut=%d", &n): // one blob ends after so many bytes
			d.cut = n
		case sscan(arg, "busy=%d", &n): // so many requests are answered with 503
			d.busy = n
		default:
			ts.Fatalf("no such trouble: %s", arg)
		}
	}
}

func sscan(text, format string, n *int) bool {
	_, err := fmt.Sscanf(text, format, n)
	return err == nil
}

// door is what stands before a registry.
type door struct {
	to  string
	log string

	mu   sync.Mutex
	cut  int
	busy int
	evil bool
	gone bool
	shut bool
	deny bool
}

// What is noted in the place of a status that was never sent.
const (
	cutOff  = 0
	shutOut = 1
)

func (d *door) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	isBlob := strings.Contains(q.URL.Path, "/blobs/sha256:") && q.Method == http.MethodGet
	d.mu.Lock()
	busy, shut, deny := d.busy > 0, d.shut && d.gone, d.deny
	if busy {
		d.busy--
	}
	d.mu.Unlock()
	if shut {
		d.note(q, shutOut)
		panic(http.ErrAbortHandler)
	}
	if deny {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	if busy {
		d.note(q, http.StatusServiceUnavailable)
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	request := q.Clone(q.Context())
	request.URL.Scheme, request.URL.Host, request.RequestURI = "http", d.to, ""
	answer, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer answer.Body.Close()
	d.note(q, answer.StatusCode)
	for name, values := range answer.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.StatusCode)
	body := io.Reader(answer.Body)
	d.mu.Lock()
	cut := 0
	if isBlob && d.cut > 0 && answer.ContentLength > int64(d.cut) {
		cut, d.cut, d.shut = d.cut, 0, true
	}
	evil := d.evil
	d.mu.Unlock()
	if evil && isBlob {
		content, _ := io.ReadAll(body)
		content[len(content)/2] ^= 1
		body = bytes.NewReader(content)
	}
	if cut > 0 {
		_, _ = io.CopyN(w, body, int64(cut))
		_ = http.NewResponseController(w).Flush()
		d.note(q, cutOff)
		panic(http.ErrAbortHandler) // ends the connection
	}
	_, _ = io.Copy(w, body)
}

// note writes down what was asked and answered.
func (d *door) note(q *http.Request, status int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f, err := os.OpenFile(d.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	kind, _, _ := strings.Cut(q.Header.Get("Authorization"), " ")
	_, _ = fmt.Fprintln(f, q.Method, q.URL.Path, status, q.Header.Get("Range"), kind)
	_ = f.Close()
}
