//go:build kube

package kubenode_test

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
)

// proxied is a server that passes on what it allows.
func proxied(t *testing.T, secure bool, to string, allow func(http.ResponseWriter, *http.Request) bool) *httptest.Server {
	t.Helper()
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	pass := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		if !secure {
			r.Out.Host = r.In.Host // what a registry names itself
		}
	}, FlushInterval: -1, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if allow(w, r) {
			pass.ServeHTTP(w, r)
		}
	}))
	if secure {
		server.StartTLS()
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	return server
}

func TestFault_PrivateRegistry(t *testing.T) {
	onNode(t)
	p := newProject(t)
	private := proxied(t, false, "http://"+node.Registry, func(w http.ResponseWriter, r *http.Request) bool {
		if user, password, _ := r.BasicAuth(); user == "ops" && password == "hunter3" {
			return true
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="private"`)
		http.Error(w, "log in", http.StatusUnauthorized)
		return false
	})
	at := strings.TrimPrefix(private.URL, "http://")
	p.host("")
	p.files("", resource("main", "true"))
	p.run(0, "init")
	registries := `registries = { "` + node.Registry + `/file" = "` + at + `/file" }`
	p.host(registries)
	out := p.run(1, "plan")
	if !strings.Contains(out, "An image cannot be pulled on jobs") || !strings.Contains(out, "authorization failed") || !strings.Contains(out, "image_pull_secrets") {
		t.Errorf("the reason is missing: %s", out)
	}
	p.kubectl("create", "secret", "docker-registry", "registry", "-n", p.namespace, "--docker-server="+at, "--docker-username=ops",
		"--docker-password=hunter3")
	p.host(registries + "\n    image_pull_secrets = [\"registry\"]")
	p.run(0, "apply", "-auto-approve")
	if p.object("main") != "hunter2\n" {
		t.Errorf("the object is %q", p.object("main"))
	}
	p.empty()
}

// Over a proxy that refuses WebSockets, and over one that takes nothing else, an action runs.
func TestExec_ByWebSocketAndSPDY(t *testing.T) {
	for name, refused := range map[string]string{"spdy": "websocket", "websocket": "SPDY/3.1"} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t)
			var upgrades, refusals atomic.Int64
			proxy := proxied(t, true, node.Server, func(w http.ResponseWriter, r *http.Request) bool {
				if upgrade := r.Header.Get("Upgrade"); strings.EqualFold(upgrade, refused) {
					refusals.Add(1)
					http.Error(w, "this proxy does not pass it on", http.StatusForbidden)
					return false
				} else if upgrade != "" {
					upgrades.Add(1)
				}
				return true
			})
			p.host("")
			p.write("kubeconfig", strings.Replace(p.config(p.kubectl("create", "token", "deployster", "-n", p.namespace)), node.Server, proxy.URL, 1))
			p.files("", resource("main", "yes 0123456789 | head -c 1000000"))
			p.run(0, "init")
			out := p.run(0, "apply", "-auto-approve")
			if p.object("main") != "hunter2\n" || strings.Count(out, "0123456789") < 90_000 {
				t.Errorf("the object is %q", p.object("main"))
			}
			if upgrades.Load() == 0 || (refusals.Load() == 0) != (name == "websocket") {
				t.Errorf("%d connections, and %d were refused", upgrades.Load(), refusals.Load())
			}
			p.empty()
		})
	}
}
