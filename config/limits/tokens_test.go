package limits

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
)

// TestSmall_ExceedsNothing: what is small by its bytes is within the limits by its
// tokens, also when it is made of what they are about.
func TestSmall_ExceedsNothing(t *testing.T) {
	pieces := []string{"{", "}", "[", "]", "(", ")", "\"", "${", "%{", "~}", "%{ if a }", "%{ for a in b }", "%{ endif }", "$", "\\", "\n", "\r\n", "<<EOT\n", "EOT\n", "<<", "#", "/*", "*/",
		"a", " + ", "==", "!", "&&", "?", ":", ",", "1", "1e999", "1E9", "1.", "e5", " ", "é", "\xff", "\x00", "r = 1\n", "b \"c\" {\n", "}\n", strings.Repeat("9", 50), strings.Repeat("(", 30),
		strings.Repeat("+1", 300), strings.Repeat("\"${", 15), strings.Repeat("[0]", 20)}
	random := rand.New(rand.NewPCG(1, 2))
	found := 0
	for range 4000 {
		few := []string{pieces[random.IntN(len(pieces))], pieces[random.IntN(len(pieces))], pieces[random.IntN(len(pieces))]}
		var text strings.Builder
		for range 1 + random.IntN(60) {
			text.WriteString(few[random.IntN(len(few))])
		}
		src := []byte(text.String())
		if !small(src) {
			continue
		}
		found++
		for _, template := range []bool{false, true} {
			if d := byTokens(src, "f.hcl", template, hcl.InitialPos); d != nil {
				t.Fatalf("%s: %s\n%q", d.Summary, d.Detail, src)
			}
		}
	}
	if found < 400 {
		t.Errorf("only %d were small", found)
	}
}

func TestSmall_AcceptsShallowFilesOnly(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want bool
	}{
		"a block":        {"resource \"a\" {\n  type = \"disk:1\"\n  config = { name = \"a-${var.n}\", size = 10 }\n}\n", true},
		"brackets":       {"a = " + strings.Repeat("[", 101) + strings.Repeat("]", 101), false},
		"directives":     {"a = \"" + strings.Repeat("%{ if b }", 51) + "\"", false},
		"a heredoc":      {"a = <<E\n" + strings.Repeat("${", 101) + "\nE\n", false},
		"operators":      {"a = 1" + strings.Repeat("+1", 2001), false},
		"a long number":  {"a = " + strings.Repeat("1", 65), false},
		"a large number": {"a = 1e401", false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := small([]byte(c.text)); got != c.want {
				t.Errorf("got %t", got)
			}
		})
	}
}
