package e2e

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// kvServer answers as Vault does for version 2 of a KV engine at secret/, and can be sealed. It is the part of its HTTP API
// that a program which reads secrets uses.
type kvServer struct {
	token string

	mu       sync.Mutex
	sealed   bool
	versions map[string][]json.RawMessage // by path
}

// startVault is the script command vault VARIABLE TOKEN: VARIABLE gets the address of a server that takes TOKEN.
func startVault(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: vault VARIABLE TOKEN")
	}
	s := httptest.NewServer(&kvServer{token: args[1], versions: map[string][]json.RawMessage{}})
	ts.Defer(s.Close)
	ts.Setenv(args[0], s.URL)
}

func (s *kvServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	path, is := strings.CutPrefix(r.URL.Path, "/v1/secret/data/")
	versions := s.versions[path]
	switch {
	case s.sealed:
		answer(w, http.StatusServiceUnavailable, map[string]any{"errors": []string{"Vault is sealed"}})
	case r.Header.Get("X-Vault-Token") != s.token:
		answer(w, http.StatusForbidden, map[string]any{"errors": []string{"permission denied"}})
	case r.URL.Path == "/v1/sys/seal" && r.Method == http.MethodPut:
		s.sealed = true
		w.WriteHeader(http.StatusNoContent)
	case is && (r.Method == http.MethodPost || r.Method == http.MethodPut):
		var in struct{ Data json.RawMessage }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.Data == nil {
			answer(w, http.StatusBadRequest, map[string]any{"errors": []string{"no data provided"}})
			return
		}
		s.versions[path] = append(versions, in.Data)
		answer(w, http.StatusOK, map[string]any{"data": map[string]any{"version": len(versions) + 1}})
	case is && r.Method == http.MethodGet && len(versions) > 0:
		answer(w, http.StatusOK, map[string]any{"data": map[string]any{"data": versions[len(versions)-1],
			"metadata": map[string]any{"version": len(versions), "destroyed": false}}})
	default:
		answer(w, http.StatusNotFound, map[string]any{"errors": []string{}})
	}
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // who asked may be gone
}
