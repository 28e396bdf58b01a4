package e2e

import (
	"go/ast"
	"go/token"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"deployster/internal/testkit/gosource"
)

// dropped are words that people are not to read: each has a standard one, which
// stands behind it.
var dropped = map[string]string{
	`as declared`:                         "unchanged; matches the configuration",
	`comes? along`:                        "is included",
	`(made|makes? it|making it) again`:    "replaced, created again",
	`brought in|brings? in`:               "downloaded, imported, fetched",
	`unsettled`:                           "outcome unknown",
	`lets? go of`:                         "forgets; depends on it no more",
	`mend(s|ed|ing)?`:                     "fix, repair, correct",
	`(was|is) right|right already`:        "valid, unchanged",
	`nobody knows`:                        "unknown",
	`in vain`:                             "gave up waiting",
	`remember(s|ed)?`:                     "has, recorded",
	`wants|wanted`:                        "needs, declares",
	`(is|are) about`:                      "covers, refers to",
	`(could|can) not be asked`:            "failed; its state is not known",
	`did not come about`:                  "failed",
	`it is said so`:                       "deployster reports this",
	`as far as can be known`:              "may change",
	`time span`:                           "duration",
	`circle of dependencies`:              "dependency cycle",
	`declared no more|remembered no more`: "removed, forgotten",
	`(is|are|was|were|be)( not| still| already)? there`: "exists, is given, is declared",
	`not right`:                             "invalid, not valid",
	`has been right|be right`:               "valid",
	`nobody to ask`:                         "not a terminal",
	`not a (whole plan|plan of everything)`: "partial plan",
	`makes the changes? of`:                 "why it changes",
	`takes this back`:                       "undo",
	`to do exactly this`:                    "apply it with",
	`this would be done`:                    "dry run",
	`destroyed and made`:                    "replaced",
	`is another plan`:                       "the digest does not match",
	`signed by somebody else`:               "not signed by a trusted key",
	`by its own means`:                      "outside of deployster",
	`dialect`:                               "version",
	`hang or die`:                           "bounds the cost",
	`it keeps the protocol`:                 "pass",
	`tell more`:                             "verbose output",
	`not too old`:                           "the versions",
	`an? apply is at work\.`:                "is in progress",
	`no self here|nothing to repeat`:        "is not available here",
	`does not know this property`:           "has no property",
	`to be mounted is not|did not help`:     "does not exist, still not up to date",
}

// names are dropped words that are names in the code too: its comments may have them.
var names = []string{`unsettled`, `remember(s|ed)?`, `wants|wanted`, `(is|are) about`}

var droppedWords, droppedInComments = droppedBut(nil), droppedBut(names)

// droppedBut matches the dropped words, but for some.
func droppedBut(some []string) *regexp.Regexp {
	words := slices.DeleteFunc(slices.Sorted(maps.Keys(dropped)), func(w string) bool { return slices.Contains(some, w) })
	return regexp.MustCompile(`(?i)\b(` + strings.Join(words, "|") + `)\b`)
}

// quotedWord is one of the protocol, or of an example.
var quotedWord = regexp.MustCompile("\"[^\"]*\"|`[^`]*`")

// examples are the blocks of code of a page.
var examples = regexp.MustCompile("(?ms)^```.*?^```$")

// plainWords are what a page says in words of its own: without examples and names.
func plainWords(page string) string {
	page = examples.ReplaceAllString(page, "")
	page = regexp.MustCompile("`[^`\n]*`").ReplaceAllString(page, "")
	return strings.Join(strings.Fields(page), " ")
}

// forDevelopers are pages that no operator has to read.
var forDevelopers = regexp.MustCompile(`^docs/(decisions/|internals/|dependencies\.md|architecture\.md)`)

// The pages for operators and the messages of the program, help among them, have
// none of the words that were dropped.
func TestWords_AreThoseOfTheTrade(t *testing.T) {
	t.Parallel()
	seen := 0
	for name, page := range pages(t) {
		if forDevelopers.MatchString(name) {
			continue
		}
		seen++
		text := plainWords(page)
		for _, at := range droppedWords.FindAllStringIndex(text, -1) {
			t.Errorf("%s: a word that was dropped: ...%s...", name, text[max(0, at[0]-60):min(len(text), at[1]+60)])
		}
	}
	if seen < 15 {
		t.Fatalf("only %d pages were read", seen)
	}
	review := regexp.MustCompile(`<[^>]*>|\{\{.*?\}\}`).ReplaceAllString(read(t, "internal/ui/planpage/page.html"), " ")
	if word := droppedWords.FindString(review); word != "" || !strings.Contains(review, "Dependencies") {
		t.Errorf("the page of a review: the word %q was dropped", word)
	}
	messages := 0
	for _, f := range productFiles(t) {
		for _, text := range sentences(f.Syntax) {
			messages++
			if word := droppedWords.FindString(quotedWord.ReplaceAllString(text, "")); word != "" {
				t.Errorf("%s: the word %q was dropped: %s", f.Path, word, text)
			}
		}
	}
	if messages < 1500 {
		t.Fatalf("only %d messages were read", messages)
	}
}

// The comments of the product have none of them either.
func TestWords_OfComments(t *testing.T) {
	t.Parallel()
	comments := 0
	for _, f := range productFiles(t) {
		for _, group := range f.Syntax.Comments {
			comments++
			text := strings.Join(strings.Fields(quotedWord.ReplaceAllString(group.Text(), "")), " ")
			if word := droppedInComments.FindString(text); word != "" {
				t.Errorf("%s: the word %q was dropped: %s", f.Positions.Position(group.Pos()), word, text)
			}
		}
	}
	if comments < 5000 {
		t.Fatalf("only %d comments were read", comments)
	}
}

// productFiles are the Go files without tests, what only tests need, and examples.
func productFiles(t *testing.T) []gosource.File {
	t.Helper()
	return slices.DeleteFunc(goFiles(t), func(f gosource.File) bool {
		return f.IsTest() || strings.Contains(f.Path, "testkit") || strings.Contains(f.Path, "testdata") || strings.HasPrefix(f.Path, "docs/") ||
			strings.Contains(f.Path, "test/")
	})
}

// sentences returns the texts of a file that have spaces: with those that go on in
// the next line, but for the keys of JSON.
func sentences(file *ast.File) (texts []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			return n.Tag == nil
		case *ast.BinaryExpr:
			if text := joined(n); text != "" {
				texts = append(texts, text)
				return false
			}
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil && strings.Contains(strings.TrimSpace(text), " ") {
				texts = append(texts, text)
			}
		}
		return true
	})
	return texts
}

// joined is a text that is made of texts alone; "" = it is none.
func joined(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, _ := strconv.Unquote(e.Value)
		return text
	case *ast.BinaryExpr:
		left, right := joined(e.X), joined(e.Y)
		if e.Op == token.ADD && left != "" && right != "" {
			return left + right
		}
	}
	return ""
}

func TestWords_DroppedAreSeen(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"All 19 resources are as declared.": true, "Nobody knows how it ended": true, "it wants a plug": true, "It was mended.": true,
		"The state remembers no b": true, "what comes along": true, "an amendment": false, "it is declared": false, "unwanted": false,
	} {
		if got := droppedWords.MatchString(text); got != want {
			t.Errorf("%q: seen %t, not %t", text, got, want)
		}
	}
	if got := plainWords("a `want` b\n```hcl\nwant\n```\nc"); got != "a b c" {
		t.Errorf("examples are read as words: %q", got)
	}
}
