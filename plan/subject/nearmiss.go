package subject

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"deployster/internal/base/words"
)

// NearMiss suggests known addresses that are similar to a text.
func NearMiss(text string, known []string) string {
	candidates := map[string]bool{}
	for _, addr := range known {
		candidates[addr] = true
		for i := range addr { // the blocks and modules above it
			if addr[i] == '[' || addr[i] == '.' {
				candidates[addr[:i]] = true
			}
		}
	}
	delete(candidates, "module")
	plain := strings.NewReplacer(`"`, "", `'`, "", `\`, "")
	given := plain.Replace(strings.TrimPrefix(text, "resource."))
	type guess struct {
		addr     string
		distance int
	}
	var guesses []guess
	for addr := range candidates {
		d, near := words.Distance(given, plain.Replace(addr))
		if strings.HasSuffix(addr, "."+given) {
			d, near = 0, true
		}
		if near {
			guesses = append(guesses, guess{addr, d})
		}
	}
	slices.SortFunc(guesses, func(a, b guess) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.addr, b.addr))
	})
	if len(guesses) == 0 {
		return " `deployster graph` and `deployster state list` list all addresses."
	}
	near := make([]string, 0, 3)
	for _, g := range guesses[:min(3, len(guesses))] {
		near = append(near, g.addr)
	}
	return fmt.Sprintf(" Did you mean %s?", strings.Join(near, ", or "))
}
