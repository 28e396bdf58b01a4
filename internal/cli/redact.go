package cli

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

// vault knows what must never be shown, and hides it in texts. It learns of
// secrets while a command runs, before the first program can repeat them.
type vault struct {
	mu      sync.Mutex
	secrets map[string]bool
	short   bool              // some of them are too short to be looked for
	hider   *strings.Replacer // nil = to be made: a secret came since, or there is none
}

// add takes note of secrets.
func (v *vault) add(secrets []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, s := range secrets {
		if !v.secrets[s] {
			if v.secrets == nil {
				v.secrets = map[string]bool{}
			}
			v.secrets[s], v.hider = true, nil
			v.short = v.short || len(s) < minSecret
		}
	}
}

// hide takes the secrets out of a text.
func (v *vault) hide(text string) string {
	if hide := v.hiding(); hide != nil {
		return hide(text)
	}
	return text
}

// hiding is what hides the secrets that are known now; nil = there are none.
func (v *vault) hiding() func(text string) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.secrets) == 0 {
		return nil
	}
	if v.hider == nil {
		v.hider = redactor(slices.Collect(maps.Keys(v.secrets)))
	}
	return v.hider.Replace
}

// private reports whether there may be a secret in a text. A short one may be in any.
func (v *vault) private(text string) bool {
	v.mu.Lock()
	none, short := len(v.secrets) == 0, v.short
	v.mu.Unlock()
	return !none && (short || v.hide(text) != text)
}

// redactor makes a replacer that hides secrets in the forms in which programs
// print one: as it is, as JSON writes it, as base64 and as part of an address.
func redactor(secrets []string) *strings.Replacer {
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
