package redact

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"deployster/internal/base/jsondoc"
)

// minSecret is the length, in bytes, below which a secret is not looked for in
// running text: it would be found in every second word.
const minSecret = 4

// minLine is the same for one line of a secret that has several.
const minLine = 8

// Redactor knows what must never be shown, and hides it in texts. It learns of
// secrets while a command runs, before the first program can repeat them.
type Redactor struct {
	mu      sync.Mutex
	secrets map[string]bool
	short   bool              // some of them are too short to be looked for
	hider   *strings.Replacer // nil = to be made: a secret came since, or there is none
}

// Add takes note of secrets.
func (r *Redactor) Add(secrets []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range secrets {
		if !r.secrets[s] {
			if r.secrets == nil {
				r.secrets = map[string]bool{}
			}
			r.secrets[s], r.hider = true, nil
			r.short = r.short || len(s) < minSecret
		}
	}
}

// Hide takes the secrets out of a text.
func (r *Redactor) Hide(text string) string {
	if hide := r.Hiding(); hide != nil {
		return hide(text)
	}
	return text
}

// Hiding returns what hides the secrets that are known now; nil = there are none.
func (r *Redactor) Hiding() func(text string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.secrets) == 0 {
		return nil
	}
	if r.hider == nil {
		r.hider = replacer(slices.Collect(maps.Keys(r.secrets)))
	}
	return r.hider.Replace
}

// Private reports whether there may be a secret in a text. A short one may be in any.
func (r *Redactor) Private(text string) bool {
	r.mu.Lock()
	none, short := len(r.secrets) == 0, r.short
	r.mu.Unlock()
	return !none && (short || r.Hide(text) != text)
}

// replacer returns what hides secrets in the forms in which programs
// print one: as it is, as JSON writes it, as base64 and as part of an address.
func replacer(secrets []string) *strings.Replacer {
	var forms []string
	for _, s := range secrets {
		if len(s) < minSecret {
			continue
		}
		forms = append(forms, s, strings.Trim(strconv.Quote(s), `"`), jsonText(s, true), jsonText(s, false),
			base64.StdEncoding.EncodeToString([]byte(s)), base64.RawURLEncoding.EncodeToString([]byte(s)), url.QueryEscape(s))
	}
	for _, s := range secrets {
		// A log is hidden line by line, and a key has many.
		for line := range strings.SplitSeq(s, "\n") {
			if line = strings.TrimSpace(line); len(line) >= minLine && line != s {
				forms = append(forms, line)
			}
		}
	}
	// The longest first: one secret may be part of another.
	slices.SortFunc(forms, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	pairs := make([]string, 0, 2*len(forms))
	for _, f := range slices.Compact(forms) {
		pairs = append(pairs, f, jsondoc.Masked)
	}
	return strings.NewReplacer(pairs...)
}

// jsonText is a string as JSON writes it, without its quotes. Some writers also
// escape what HTML would mind.
func jsonText(s string, html bool) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(html)
	_ = enc.Encode(s) // a string always has a JSON form
	text := strings.TrimSuffix(b.String(), "\n")
	return text[1 : len(text)-1]
}
