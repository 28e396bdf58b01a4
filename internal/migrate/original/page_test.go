package original

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The page for users shows what its example becomes.
func TestPage_ShowsWhatIsWritten(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../../docs/from-deployster.md")
	if err != nil {
		t.Fatal(err)
	}
	fences := func(language string) (out []string) {
		for _, found := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(string(data), -1) {
			out = append(out, found[1])
		}
		return out
	}
	given, shown, printed := fences("yaml"), fences("hcl"), fences("text")
	if len(given) != 2 || len(shown) != 2 || len(printed) != 1 {
		t.Fatalf("%d, %d and %d examples", len(given), len(shown), len(printed))
	}
	made, err := Run(Options{Manifests: []File{{Name: "site.yaml", Bytes: []byte(given[0])}},
		Variables: []File{{Name: "vars.auto.yaml", Bytes: []byte(given[1]), Auto: true}}, Version: "0.1.0"})
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"site.hcl", "variables.hcl"} {
		if want := "# part of a manifest: " + name + "\n" + string(made.Files[name]); shown[i] != want {
			t.Errorf("the page has\n%s\nand not\n%s", shown[i], want)
		}
	}
	for _, line := range made.Notes {
		if !strings.Contains(printed[0], "check "+line+"\n") {
			t.Errorf("the page does not have: check %s", line)
		}
	}
	for _, line := range made.Open {
		if !strings.Contains(printed[0], "translate "+line+"\n") {
			t.Errorf("the page does not have: translate %s", line)
		}
	}
	if got := strings.Count(printed[0], "\n"); got != len(made.Files)+len(made.Notes)+len(made.Open)+2 {
		t.Errorf("the page shows %d lines", got)
	}
}
