package text_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"deployster/machine/internal/kindtest"
	"deployster/machine/internal/text"
)

const randomEdits = 200

// content returns a random file of short lines, which often collide.
func content(r *rand.Rand) string {
	var list []string
	for range r.IntN(6) {
		list = append(list, []string{"a", "b", "c=1", "c=2", "#c=1", "", "d\r"}[r.IntN(7)])
	}
	text := strings.Join(list, "\n")
	if len(list) > 0 && r.IntN(3) > 0 {
		text += "\n"
	}
	return text
}

// others returns the lines that are not these, and whether the last one has a newline.
func others(content string, except ...string) string {
	var list []string
	for one := range strings.Lines(content) {
		if one = strings.TrimRight(one, "\r\n"); !slices.Contains(except, one) {
			list = append(list, one)
		}
	}
	return fmt.Sprintf("%q", list)
}

// open reports whether a file has a last line without a newline.
func open(content string) bool { return content != "" && !strings.HasSuffix(content, "\n") }

// TestLine_RandomEdits wants of any file and any change of the config: the line is there, all
// others are as before, and the end of the file too.
func TestLine_RandomEdits(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	m := file(t, "")
	l := kindtest.New(t, text.NewLine(m))
	former := ""
	for i := range randomEdits {
		if r.IntN(2) == 0 { // by hand
			must(t, os.WriteFile(m.Path("/etc/x"), []byte(content(r)), 0o640))
		}
		before, err := os.ReadFile(m.Path("/etc/x"))
		must(t, err)
		c := config{"path": "/etc/x", "id": "x", "line": []string{"c=1", "c=2", "c=3", "e"}[r.IntN(4)]}
		if r.IntN(2) == 0 && c["line"] != "e" {
			c["match"] = "^c="
		}
		line, answer := c["line"].(string), l.State(c)
		if answer.Error != nil {
			if n := strings.Count("\n"+string(before), "\nc="); c["match"] == nil || n < 2 {
				t.Errorf("%d: %v of %q: %v", i, c, before, answer.Error)
			}
			continue
		}
		l.Apply(c)
		after, err := os.ReadFile(m.Path("/etc/x"))
		must(t, err)
		mine := []string{line, former}
		if c["match"] != nil {
			mine = append(mine, "c=1", "c=2", "c=3")
		}
		switch {
		case others(string(before), mine...) != others(string(after), mine...):
			t.Errorf("%d: %v made %q of %q: another line has changed", i, c, after, before)
		case !slices.Contains(strings.Split(strings.ReplaceAll(string(after), "\r", ""), "\n"), line):
			t.Errorf("%d: %v made %q of %q: the line is missing", i, c, after, before)
		case len(before) > 0 && open(string(before)) != open(string(after)):
			t.Errorf("%d: %v made %q of %q: the end has changed", i, c, after, before)
		}
		former = line
		if r.IntN(5) == 0 {
			l.Destroy(c)
			gone, err := os.ReadFile(m.Path("/etc/x"))
			if must(t, err); others(string(gone), line) != others(string(after), line) || others(string(gone), line) != others(string(gone)) {
				t.Errorf("%d: the removal of %v made %q of %q", i, c, gone, after)
			}
			former = ""
		}
	}
}

// TestBlock_RandomEdits wants that what is outside of the blocks never changes, whatever
// happens to two blocks of one file.
func TestBlock_RandomEdits(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	m := file(t, "")
	blocks := map[string]*kindtest.Resource{"a": kindtest.New(t, text.NewBlock(m)), "b": kindtest.New(t, text.NewBlock(m))}
	want := map[string][]string{}
	outside := ""
	for i := range randomEdits {
		if r.IntN(10) == 0 { // a person writes a new file
			outside = content(r)
			must(t, os.WriteFile(m.Path("/etc/x"), []byte(outside), 0o640))
			clear(want)
		}
		id := []string{"a", "b"}[r.IntN(2)]
		c := config{"path": "/etc/x", "id": id, "content": content(r)}
		if r.IntN(4) == 0 {
			blocks[id].Destroy(c)
			delete(want, id)
		} else {
			blocks[id].Apply(c)
			want[id] = strings.Split(strings.TrimSuffix(strings.ReplaceAll(c["content"].(string), "\r", ""), "\n"), "\n")
			if c["content"] == "" {
				want[id] = nil
			}
		}
		after, err := os.ReadFile(m.Path("/etc/x"))
		must(t, err)
		rest, got := taken(string(after))
		if others(rest) != others(outside) || outside != "" && open(string(after)) != open(outside) ||
			fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
			t.Fatalf("%d: %v: %q has %q outside and the blocks %q; they should be %q and %q", i, c, after, rest, got, outside, want)
		}
	}
}

// taken splits a file into what is outside of blocks, and the blocks.
func taken(content string) (outside string, blocks map[string][]string) {
	blocks = map[string][]string{}
	id := ""
	for one := range strings.Lines(content) {
		text := strings.TrimRight(one, "\r\n")
		if id == "" && strings.HasPrefix(text, "# BEGIN deployster ") {
			id = strings.TrimPrefix(text, "# BEGIN deployster ")
			blocks[id] = nil
		} else if id != "" && text == "# END deployster "+id {
			id = ""
		} else if id != "" {
			blocks[id] = append(blocks[id], strings.TrimSuffix(strings.TrimSuffix(one, "\n"), "\r"))
		} else {
			outside += one
		}
	}
	return outside, blocks
}
