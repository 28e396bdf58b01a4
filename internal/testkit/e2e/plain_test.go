package e2e

import (
	"fmt"
	"go/ast"
	"regexp"
	"slices"
	"strings"
	"testing"

	"deployster/internal/testkit/gosource"
)

// unplain are words that are avoided in messages and pages, and what to write instead.
var unplain = []struct{ pattern, better string }{
	{`told|tells?|telling`, "report, notify, print, show"},
	{`say|says|said|saying`, "report, return, declare, name, print"},
	{`asks?|asked|asking`, "query, read, require; of people: prompt"},
	{`looks?|looked|looking`, "check, read, find"},
	{`things?`, "object, or its kind"},
	{`anew`, "again"},
	{`beside`, "next to, in the same directory"},
	{`(is|are|was|were) (no|none)`, "is not a, is not valid"},
	{`no proper`, "not valid"},
	{`(goes|go|went|going) on`, "continue"},
	{`lies?|lay`, "is in"},
	{`br(ings?|inging|ought) (it |them |that )?(in|back)`, "merge, pull, import, restore"},
	{`(stay|stays|left|leaves?|kept|keeps?) (it |them )?as (it|they) (is|are|was|were)`, "unchanged, skipped, not destroyed"},
	{`stays? as`, "unchanged"},
	{`for ever`, "indefinitely"},
	{`at one time|of a time`, "concurrently, at a time"},
	{`so many`, "that many, N"},
	{`who waits`, "a waiting command"},
	{`gone for good`, "lost for good"},
	{`meant`, "intended"},
	{`be had`, "be read, be found"},
	{`in a circle`, "a cycle"},
	{`leads? nowhere`, "has no target, does not exist"},
	{`wrong command line`, "name the fault: Unknown flag, Missing argument"},
	{`lets? go|letting go`, "forget"},
	{`cut short`, "interrupted"},
	{`far end`, "agent"},
	{`come(s)? true`, "is met"},
	{`heard of`, "answered"},
	{`on (its|their) way`, "being transferred, in progress"},
	{`tak(e|es|en|ing) ([\w.]+ )?away`, "remove"},
	{`leaves? (it|them|others|[a-z_.]+) out`, "omit, exclude"},
	{`no trace of`, "no record of"},
}

var unplainWords = func() *regexp.Regexp {
	patterns := make([]string, len(unplain))
	for i, u := range unplain {
		patterns[i] = "(" + strings.NewReplacer("(", "(?:", "(?:?:", "(?:").Replace(u.pattern) + ")"
	}
	return regexp.MustCompile(`(?i)\b(?:` + strings.Join(patterns, "|") + `)\b`)
}()

// plainEnough are uses of these words that are plain, or are values of flags.
var plainEnough = regexp.MustCompile(`(?i)\bthere (is|are|was|were) (no|none)\b|\bno longer\b|\bask(ed)? for approval\b|-deferred=ask|apply, ask,? or stop|\blay(s|er|ers|out)\b|\blooks? (like|up)\b`)

// unplainIn returns the first word of a text to avoid, with what is near it and what is better.
func unplainIn(text string) (found string) {
	text = plainEnough.ReplaceAllString(quotedWord.ReplaceAllString(text, ""), "")
	at := unplainWords.FindStringSubmatchIndex(text)
	if at == nil {
		return ""
	}
	for i, u := range unplain {
		if at[2*i+2] >= 0 {
			found = fmt.Sprintf("%q (%s): ...%s...", text[at[0]:at[1]], u.better, text[max(0, at[0]-70):min(len(text), at[1]+70)])
		}
	}
	return found
}

// otherModules are the modules that people install.
var otherModules = []string{"bridge", "release", "kube", "lsp"}

// moduleFiles returns the files of the other modules that people write: tests, or the others.
func moduleFiles(t *testing.T, tests bool) (list []gosource.File) {
	t.Helper()
	for _, module := range otherModules {
		files, err := gosource.Read(module)
		if err != nil || len(files) < 3 {
			t.Fatalf("only %d Go files of %s were found: %v", len(files), module, err)
		}
		for _, f := range files {
			if f.Path = module + "/" + f.Path; f.IsTest() == tests && !ast.IsGenerated(f.Syntax) {
				list = append(list, f)
			}
		}
	}
	return list
}

// Comments have plain words too, but for names of the code.
func TestWords_OfCommentsArePlain(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, f := range slices.Concat(productFiles(t), moduleFiles(t, false)) {
		names := map[string]bool{}
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			if name, ok := n.(*ast.Ident); ok {
				names[name.Name] = true
			}
			return true
		})
		for _, group := range f.Syntax.Comments {
			seen++
			text := word.ReplaceAllStringFunc(strings.Join(strings.Fields(group.Text()), " "), func(w string) string {
				if names[w] && unplainWords.MatchString(w) {
					return "_"
				}
				return w
			})
			if found := unplainIn(text); found != "" {
				t.Errorf("%s: avoid %s", f.Positions.Position(group.Pos()), found)
			}
		}
	}
	if seen < 5000 {
		t.Errorf("only %d comments were read", seen)
	}
}

var word = regexp.MustCompile(`\w+`)

// Messages of the program, help among them, and the pages for users have plain words.
func TestWords_ArePlain(t *testing.T) {
	t.Parallel()
	for name, page := range pages(t) {
		if forDevelopers.MatchString(name) {
			continue
		}
		page = examples.ReplaceAllString(page, "")
		for paragraph := range strings.SplitSeq(page, "\n\n") {
			if found := unplainIn(plainWords(paragraph)); found != "" {
				t.Errorf("%s: avoid %s", name, found)
			}
		}
	}
	for _, f := range slices.Concat(productFiles(t), moduleFiles(t, false)) {
		for _, text := range sentences(f.Syntax) {
			if found := unplainIn(text); found != "" {
				t.Errorf("%s: avoid %s", f.Path, found)
			}
		}
	}
}

func TestWords_PlainAreAccepted(t *testing.T) {
	t.Parallel()
	for text, avoided := range map[string]bool{
		"it is no flag": true, "there is no flag": false, "it no longer exists": false, "what the image says": true,
		"use `say`": false, "Nothing to do": false, "it stays as it is": true, "two layers": false, "Wrong command line": true,
	} {
		if got := unplainIn(text); (got != "") != avoided {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// The names of tests have plain words, and a subject and a fact.
func TestWords_OfTests(t *testing.T) {
	t.Parallel()
	tests := 0
	for _, f := range slices.Concat(goFiles(t), moduleFiles(t, true)) {
		for _, d := range f.Syntax.Decls {
			test, ok := d.(*ast.FuncDecl)
			if !ok || !f.IsTest() || test.Recv != nil || test.Name.Name == "TestMain" || !strings.HasPrefix(test.Name.Name, "Test") {
				continue
			}
			tests++
			if !subjectAndFact.MatchString(test.Name.Name) {
				t.Errorf("%s: %s is not named TestSubject_Fact", f.Path, test.Name.Name)
			}
			if found := unplainIn(humps.ReplaceAllString(test.Name.Name, " $0")); found != "" {
				t.Errorf("%s: %s: avoid %s", f.Path, test.Name.Name, found)
			}
		}
	}
	if tests < 1000 {
		t.Errorf("only %d tests were found", tests)
	}
}

var subjectAndFact, humps = regexp.MustCompile(`^Test[A-Z][A-Za-z0-9]*_[A-Z0-9]`), regexp.MustCompile(`[A-Z]|_`)
