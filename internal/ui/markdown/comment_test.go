package markdown

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// A comment has its parts in order, and ends with the digest.
func TestComment_EndsWithTheDigest(t *testing.T) {
	c := Comment{Summary: "Plan: 1 to destroy.", Urgent: []Urgent{{`db["a"]`, "destroy"}}, Text: "- db will be destroyed\n", Keys: []string{"AAAA", "BBBB"}, Digest: "sha256:ab"}
	want := "### Deployster plan\n\nPlan: 1 to destroy.\n\n- **destroy** `db[\"a\"]`\n\n<details><summary>All changes</summary>\n\n" +
		"```text\n- db will be destroyed\n```\n\n</details>\n\nTo apply exactly this plan, approve its digest. It is signed with the key `AAAA`, and `BBBB`:\n\n`sha256:ab`\n"
	if got := c.Markdown(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Whatever its parts are, a comment is not longer than its limit, is text, and nothing ends its fold.
func TestComment_Bounds(t *testing.T) {
	many := make([]Urgent, 10_000)
	for i := range many {
		many[i] = Urgent{strings.Repeat("é`", 500), strings.Repeat("<@", 500)}
	}
	for _, text := range []string{"", "short", strings.Repeat("a line of many\n", 10_000), strings.Repeat("é", 100_000), "```\n</details>\n" + strings.Repeat("`", 9)} {
		got := Comment{Summary: strings.Repeat("<b>*", 10_000), Urgent: many, Text: text, Digest: "sha256:ab"}.Markdown()
		if len(got) > MaxComment || !utf8.ValidString(got) || !strings.HasSuffix(got, "`sha256:ab`\n") {
			t.Errorf("%d bytes of %.20q: ends with %q", len(got), text, got[max(0, len(got)-30):])
		}
		if cut := strings.Contains(got, "The rest is cut"); cut != (len(text) > MaxComment) {
			t.Errorf("%.20q: cut is %t", text, cut)
		}
		_, block, _ := strings.Cut(got, "</summary>\n\n")
		fence, _, _ := strings.Cut(block, "text\n")
		if strings.Count(block, fence) != 2 {
			t.Errorf("the fence %s is there %d times", fence, strings.Count(block, fence))
		}
		if head, _, _ := strings.Cut(got, "<details>"); strings.ContainsAny(head, "<@") && strings.Contains(strings.ReplaceAll(head, "@\u200b", ""), "@") {
			t.Errorf("the head has markup: %.100s", head)
		}
	}
}

// Text of a plan has no meaning as Markdown.
func TestComment_Escapes(t *testing.T) {
	for text, want := range map[string]string{
		"*a* <b>":      "\\*a\\* &lt;b\\>",
		"ping @ann":    "ping @\u200bann",
		"[x](y) a&b":   "\\[x\\](y) a&amp;b",
		"one\ntwo `c`": "one two \\`c\\`",
	} {
		if got := escaped(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
	for text, want := range map[string]string{"a": "`a`", "a`b": "``a`b``", "`": "`` ` ``"} {
		if got := code(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}
