package secret

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// minLine is the counterpart of MinEmbedded for one line of a secret of several lines.
const minLine = 8

// Hider removes secrets from texts. Secrets can be added later; it is safe for concurrent
// use.
type Hider struct {
	mu    sync.RWMutex
	exact map[string]bool
	// embedded are the forms that are searched for in longer texts, by their first
	// MinEmbedded bytes, the longest first: one secret may be part of another.
	embedded map[string][]string
}

// NewHider returns a Hider for the secrets, in the forms in which programs print them:
// unchanged, quoted, as JSON, as base64 and escaped for a URL.
func NewHider(secrets []string) *Hider {
	h := &Hider{exact: map[string]bool{}, embedded: map[string][]string{}}
	for _, s := range secrets {
		h.Add(s)
	}
	return h
}

// Add adds a secret.
func (h *Hider) Add(s string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.exact[s] = s != ""
	if len(s) >= MinEmbedded {
		for _, form := range []string{s, strings.Trim(strconv.Quote(s), `"`), jsonText(s, true), jsonText(s, false),
			base64.StdEncoding.EncodeToString([]byte(s)), base64.RawURLEncoding.EncodeToString([]byte(s)), url.QueryEscape(s)} {
			h.embed(form)
		}
	}
	// Logs are hidden line by line, and a key may have many lines.
	for line := range strings.SplitSeq(s, "\n") {
		if line = strings.TrimSpace(line); len(line) >= minLine && line != s {
			h.embed(line)
		}
	}
}

// embed adds a form to search for. The lock is held.
func (h *Hider) embed(form string) {
	start := form[:MinEmbedded]
	list := h.embedded[start]
	if at, known := slices.BinarySearchFunc(list, form, longestFirst); !known {
		h.embedded[start] = slices.Insert(list, at, form)
	}
}

func longestFirst(a, b string) int {
	if len(a) != len(b) {
		return len(b) - len(a)
	}
	return strings.Compare(a, b)
}

// Hide returns a text with the secrets masked.
func (h *Hider) Hide(text string) string {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if h.exact[text] {
		return Masked
	}
	var out strings.Builder
	done := 0
	for at := 0; at+MinEmbedded <= len(text); {
		form := h.at(text[at:])
		if form == "" {
			at++
			continue
		}
		out.WriteString(text[done:at])
		out.WriteString(Masked)
		at += len(form)
		done = at
	}
	if done == 0 {
		return text
	}
	out.WriteString(text[done:])
	return out.String()
}

// at returns the longest form at the beginning of a text; "" = none. The lock is held.
func (h *Hider) at(text string) string {
	for _, form := range h.embedded[text[:MinEmbedded]] {
		if strings.HasPrefix(text, form) {
			return form
		}
	}
	return ""
}

// jsonText returns a string in its JSON form, without the quotes. Some encoders also
// escape the special characters of HTML.
func jsonText(s string, html bool) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(html)
	_ = enc.Encode(s) // a string always has a JSON form
	text := strings.TrimSuffix(b.String(), "\n")
	return text[1 : len(text)-1]
}
