package cli

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"sync"

	"deployster/internal/strictjson"
)

// minSecret is the length, in bytes, below which a secret is not looked for in
// running text: it would be found in every second word.
const minSecret = 4

// vault knows what must never be shown, and hides it in texts. It learns of
// secrets while a command runs, before the first program can repeat them.
type vault struct {
	mu      sync.Mutex
	secrets []string
	hider   *strings.Replacer
}

// add takes note of secrets.
func (v *vault) add(secrets []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	known := len(v.secrets)
	v.secrets = append(v.secrets, secrets...)
	slices.Sort(v.secrets)
	v.secrets = slices.Compact(v.secrets)
	if len(v.secrets) != known || v.hider == nil {
		v.hider = redactor(v.secrets)
	}
}

// hide takes the secrets out of a text.
func (v *vault) hide(text string) string {
	v.mu.Lock()
	hider := v.hider
	v.mu.Unlock()
	if hider == nil {
		return text
	}
	return hider.Replace(text)
}

// scrub hides every secret in a text, in the forms in which programs print one:
// as it is, as JSON writes it, as base64 and as part of an address.
func scrub(text string, secrets []string) string {
	if len(secrets) == 0 || text == "" {
		return text
	}
	return redactor(secrets).Replace(text)
}

// redactor makes one replacer for many texts.
func redactor(secrets []string) *strings.Replacer {
	var forms []string
	for _, s := range secrets {
		if len(s) < minSecret {
			continue
		}
		quoted, _ := json.Marshal(s) // a string always has a JSON form
		forms = append(forms, s, strings.Trim(string(quoted), `"`),
			base64.StdEncoding.EncodeToString([]byte(s)), base64.RawURLEncoding.EncodeToString([]byte(s)), url.QueryEscape(s))
	}
	// The longest first: one secret may be part of another.
	slices.SortFunc(forms, func(a, b string) int { return len(b) - len(a) })
	pairs := make([]string, 0, 2*len(forms))
	for _, f := range slices.Compact(forms) {
		pairs = append(pairs, f, strictjson.Masked)
	}
	return strings.NewReplacer(pairs...)
}
