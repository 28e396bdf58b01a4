package cli

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"deployster/internal/strictjson"
)

// minSecret is the length, in bytes, below which a secret is not looked for in
// running text: it would be found in every second word.
const minSecret = 4

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
