package words

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agext/levenshtein"

	"deployster/internal/base/diag"
	"deployster/internal/base/natural"
)

// List returns the first most names of a list, separated by commas, and the number of the others.
func List(names []string, most int) string {
	if more := len(names) - most; more > 0 {
		return fmt.Sprintf("%s and %s more", All(names[:most]), Thousands(more))
	}
	return All(names)
}

// All returns all names, separated by commas.
func All(names []string) string { return diag.Visible(strings.Join(names, ", ")) }

// Reasons returns a line for each reason, with the first most names that have it: names gives
// the reason of each.
func Reasons(names map[string]string, most int) []string {
	by := map[string][]string{}
	for _, name := range natural.Sorted(maps.Keys(names)) {
		by[names[name]] = append(by[names[name]], name)
	}
	lines := make([]string, 0, len(by))
	for _, why := range natural.Sorted(maps.Keys(by)) {
		lines = append(lines, List(by[why], most)+": "+diag.Visible(why))
	}
	return lines
}

// Claim makes a sentence about the first three names of a list, and the number of the others:
// "a does not exist yet", "a, b, c and 7 more do not exist yet". Without names: "".
func Claim(names []string, claim string) string {
	switch len(names) {
	case 0:
		return ""
	case 1:
		return All(names) + " " + claim
	}
	names = slices.SortedFunc(slices.Values(names), natural.Compare)
	verb, rest, _ := strings.Cut(claim, " ")
	if many, ok := plural[verb]; ok {
		verb = many
	}
	return List(names, 3) + " " + verb + " " + rest
}

var plural = map[string]string{"is": "are", "was": "were", "does": "do", "has": "have"}

// ThereAre lists the names that exist, for a sentence: `there are none`, `there are a and b`.
func ThereAre(names []string) string {
	const most = 8
	names = slices.Sorted(slices.Values(names))
	switch n := len(names); {
	case n == 0:
		return "there are none"
	case n == 1:
		return "there is only " + names[0]
	case n > most:
		return "there are " + List(names, most)
	default:
		return "there are " + strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
}

// DidYouMean returns a sentence that suggests the name that was probably intended, with a
// space before it, or "".
func DidYouMean(wrong string, names []string) string { return Guess(Nearest(wrong, names)) }

// Guess is DidYouMean for a name that is already found; "" = there is none.
func Guess(name string) string {
	switch {
	case name == "":
		return ""
	case strings.Contains(name, `"`):
		return " Did you mean " + name + "?"
	}
	return fmt.Sprintf(" Did you mean %q?", name)
}

// Nearest returns the name that was probably intended, the first by name of equally near
// ones, or "".
func Nearest(wrong string, names []string) string {
	best, least := "", -1
	for _, name := range slices.Sorted(slices.Values(names)) {
		d, near := Distance(wrong, name)
		if len(wrong) >= 3 && strings.HasPrefix(name, wrong) {
			d, near = 0, true
		}
		if near && (least < 0 || d < least) {
			best, least = name, d
		}
	}
	return best
}

// Distance returns how many letters differ between two names, and whether the difference
// is small enough that one is probably a misspelling of the other: at most a third. Two
// swapped neighbouring letters count as one, a difference in case as none.
func Distance(wrong, name string) (letters int, near bool) {
	switch {
	case strings.EqualFold(wrong, name):
		return 0, true
	case isSwapped(wrong, name):
		return 1, true
	}
	letters = levenshtein.Distance(wrong, name, nil)
	most := max(2, len(wrong)/3)
	if len(wrong) <= 3 {
		most = min(len(wrong), 2) - 1 // names of one letter are all alike
	}
	return letters, letters <= most
}

// isSwapped reports whether two names differ only by two neighbouring letters that are swapped.
func isSwapped(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	return i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
}

// Article returns a noun with its article: a string, an integer.
func Article(noun string) string {
	switch {
	case noun == "null" || noun == "":
		return noun
	case strings.ContainsRune("aeiou", rune(noun[0])):
		return "an " + noun
	}
	return "a " + noun
}

// Articles returns nouns with their articles, joined by "or".
func Articles(nouns []string) string {
	all := make([]string, len(nouns))
	for i, noun := range nouns {
		all[i] = Article(noun)
	}
	return strings.Join(all, " or ")
}

// Shell quotes a word for a POSIX shell, if necessary.
func Shell(word string) string {
	special := func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && !strings.ContainsRune("_-+=:,./@%", r)
	}
	if word != "" && !strings.ContainsFunc(word, special) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
