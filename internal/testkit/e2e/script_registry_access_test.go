package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// authority signs certificates.
type authority struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

func newAuthority(ts *testscript.TestScript) *authority {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ts.Check(err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	ts.Check(err)
	cert, err := x509.ParseCertificate(der)
	ts.Check(err)
	return &authority{key, cert}
}

// file writes the authority's own certificate.
func (a *authority) file(ts *testscript.TestScript, dir string) string {
	path := filepath.Join(dir, "ca.crt")
	ts.Check(os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw}), 0o644))
	return path
}

func (a *authority) issue(ts *testscript.TestScript, host string) tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ts.Check(err)
	template := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: host}, DNSNames: []string{host},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	ts.Check(err)
	return tls.Certificate{Certificate: [][]byte{der, a.cert.Raw}, PrivateKey: key}
}

// serveTokens is the token server of a registry: who brings the password of
// "user", or the token that docker keeps after a login, gets a token that the
// registry believes.
func serveTokens(ts *testscript.TestScript, a *authority) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		user, password, _ := q.BasicAuth()
		_ = q.ParseForm()
		known := user == "user" && password == "geheim" || q.PostForm.Get("refresh_token") == "dauerhaft" ||
			q.PostForm.Get("username") == "user" && q.PostForm.Get("password") == "geheim"
		if !known {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		token := a.token(q.Form["scope"])
		_ = json.NewEncoder(w).Encode(map[string]any{"token": token, "access_token": token, "expires_in": 300})
	}))
	ts.Defer(server.Close)
	return server.URL + "/token"
}

// token makes what the registry's specification calls a JWT, signed by the
// authority whose certificate it knows.
func (a *authority) token(scopes []string) string {
	encode := base64.RawURLEncoding.EncodeToString
	access := []any{}
	for _, scope := range strings.Fields(strings.Join(scopes, " ")) {
		if part := strings.Split(scope, ":"); len(part) == 3 {
			access = append(access, map[string]any{"type": part[0], "name": part[1], "actions": strings.Split(part[2], ",")})
		}
	}
	header, _ := json.Marshal(map[string]any{"typ": "JWT", "alg": "ES256", "x5c": []string{base64.StdEncoding.EncodeToString(a.cert.Raw)}})
	claims, _ := json.Marshal(map[string]any{"iss": "test", "sub": "user", "aud": "test", "jti": "1", "access": access,
		"exp": time.Now().Add(5 * time.Minute).Unix(), "nbf": time.Now().Add(-time.Minute).Unix(), "iat": time.Now().Unix()})
	text := encode(header) + "." + encode(claims)
	sum := sha256.Sum256([]byte(text))
	r, s, _ := ecdsa.Sign(rand.Reader, a.key, sum[:])
	signature := make([]byte, 64)
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	return text + "." + encode(signature)
}

// serveProxy is an HTTP proxy that knows where the hosts of a test are.
func serveProxy(ts *testscript.TestScript, hosts map[string]string) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		to, known := hosts[q.Host]
		if q.Method != http.MethodConnect || !known {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		there, err := net.Dial("tcp", to)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		here, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			_ = there.Close()
			return
		}
		_, _ = io.WriteString(here, "HTTP/1.1 200 OK\r\n\r\n")
		go func() { _, _ = io.Copy(there, here); _ = there.Close() }()
		go func() { _, _ = io.Copy(here, there); _ = here.Close() }()
	}))
	ts.Defer(server.Close)
	return server.Listener.Addr().String()
}
