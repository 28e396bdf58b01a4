package main

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"deployster/internal/testkit/bench/meter"
	"deployster/internal/testkit/bench/results"
	"deployster/internal/testkit/page"
)

func TestSpread_HasLowMedianAndHigh(t *testing.T) {
	for _, c := range []struct {
		list []float64
		want spread
	}{
		{[]float64{4}, spread{4, 4, 4}},
		{[]float64{3, 1, 2}, spread{1, 2, 3}},
		{[]float64{4, 1, 3, 2}, spread{1, 2.5, 4}},
	} {
		if got := spreadOf(c.list); got != c.want {
			t.Errorf("%v: %v, want %v", c.list, got, c.want)
		}
	}
}

// seconds are usages of so many seconds each.
func seconds(list ...float64) (out []meter.Usage) {
	for _, s := range list {
		out = append(out, meter.Usage{Wall: time.Duration(s * float64(time.Second)), Work: time.Second, Memory: 50, Server: 30})
	}
	return out
}

func TestTable_HasFiguresAndGoals(t *testing.T) {
	for _, c := range []struct {
		l    line
		want []string
	}{
		// The ratio is the median of the pairs, not that of the medians.
		{line{Row: "1", What: "a|b", Ours: seconds(1, 2, 4), Beside: "other", Theirs: seconds(20, 10, 8), Goal: goal{Faster: 10}},
			[]string{"| 1 | a\\|b | 2s (1s to 4s), processor 1s, 50 MiB and 30 MiB of its containerd | other: 10s (8s to 20s)",
				"| 5.0 (2.0 to 20) | 10 times faster | 5.0 ✗ |"}},
		{line{Ours: seconds(2), Goal: goal{Wall: 3 * time.Second, Memory: 80}}, []string{"| 3s, 80 MiB | 2s ✓, 80 MiB in all ✓ |"}},
		{line{Ours: seconds(4), Goal: goal{Wall: 3 * time.Second, Memory: 79}}, []string{"| 4s ✗, 80 MiB in all ✗ |"}},
		{line{Ours: seconds(1), Growth: &growth{10, 100, 1.2, 1.4}, Goal: goal{Growth: 1.3}}, []string{"1.20 (processor 1.40) ✓"}},
		{line{Ours: seconds(1, 2, 3), Theirs: seconds(0.5, 1.5, 2.5), Goal: goal{More: time.Second, MoreMemory: 9, Work: time.Second / 2}},
			[]string{"| processor 500ms, 1s more, 9 MiB more | 1s ✗, 500ms more ✓, 0 MiB more ✓ |"}},
		{line{Ours: seconds(1, 2, 3, 4), Goal: goal{Slow: 3 * time.Second, Share: 0.5}},
			[]string{"| 99 of 100 in 3s, 50 % of a processor | 4s ✗, 42 % ✓ |"}},
		{line{Ours: seconds(3), Theirs: seconds(1), Goal: goal{More: time.Second}}, []string{"| 1s more | 2s more ✗ |"}},
		{line{Ours: seconds(1), Boot: []float64{0.2}, Goal: goal{Boot: 150 * time.Millisecond}}, []string{"| boot 150ms | 200ms ✗ |"}},
		{line{Row: "3", What: "w", Error: "it\nbroke"}, []string{"| 3 | w | failed: it broke |"}},
	} {
		got := c.l.markdown(true)
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s\n  has no %s", got, want)
			}
		}
		if strings.Contains(c.l.markdown(false), "✓") || strings.Contains(c.l.markdown(false), "✗") {
			t.Errorf("a run of another size is judged: %s", c.l.markdown(false))
		}
	}
}

func TestPairs_SidesTakeTurns(t *testing.T) {
	l := &lab{pairs: 3}
	var order string
	s := func(name string) side {
		return side{func() error { order += "("; return nil }, func() (meter.Usage, error) { order += name; return meter.Usage{Wall: 1}, nil }}
	}
	mine, other, err := l.inTurns(true, s("A"), s("B"))
	if want := "(B(A(A(B(B(A(A(B"; order != want || len(mine) != 3 || len(other) != 3 || err != nil {
		t.Errorf("%s, %d and %d, %v; want %s", order, len(mine), len(other), err, want)
	}
	if mine, other, err = l.inTurns(false, s("A"), side{}); len(mine) != 3 || len(other) != 0 || err != nil {
		t.Errorf("with nothing beside it: %d and %d, %v", len(mine), len(other), err)
	}
}

// A row is chosen by its number, and a part of one by that of the whole too.
func TestRow_IsChosen(t *testing.T) {
	for number, want := range map[string][]bool{"13": {true, false, false}, "13a": {true, true, false}, "1": {false, false, true}} {
		for i, chosen := range []string{"13", "13a", "1"} {
			if got := (row{number: number}).is(chosen); got != want[i] {
				t.Errorf("row %s by %s: %t", number, chosen, got)
			}
		}
	}
}

// Of a hundred numbers one may exceed the percentile of 99.
func TestPercentile_AllowsOneInAHundred(t *testing.T) {
	var list []float64
	for i := range 100 {
		list = append(list, float64(100-i))
	}
	if got, few := percentile(list, 99), percentile(list[:3], 99); got != 99 || few != 100 {
		t.Errorf("%g, of three %g", got, few)
	}
}

// What fails is a line of the table, with what was measured before it failed.
func TestTable_FailedRow(t *testing.T) {
	fails := func(context.Context, *lab) ([]line, error) {
		return []line{{What: "half", Ours: seconds(1)}, {What: "nothing"}}, errors.New("no luck")
	}
	lines, err := (&lab{}).measure(context.Background(), row{"7", "lucky", fails}, time.Minute)
	if err == nil || len(lines) != 2 || lines[0].What != "half" || lines[1].Error != "no luck" || lines[1].Row != "7" {
		t.Errorf("%+v, %v", lines, err)
	}
}

// The chart is XML, keeps all its words within the picture, and has a bar for
// each line that has something beside it.
func TestChart_HasABarForEachComparison(t *testing.T) {
	picture := chart(results.Head{Machine: "a <machine>"}, []line{
		{What: "fast", Beside: "them", Ours: seconds(1, 1, 1), Theirs: seconds(90, 100, 110), Goal: goal{Faster: 30}},
		{What: "slow", Beside: "them", Ours: seconds(8), Theirs: seconds(1), Goal: goal{Faster: 1}},
		{What: "alone", Ours: seconds(8)},
	})
	words, rects := "", 0
	d := xml.NewDecoder(strings.NewReader(picture))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch v := token.(type) {
		case xml.CharData:
			words += string(v)
		case xml.StartElement:
			if v.Name.Local == "rect" {
				rects++
			}
		}
	}
	if rects != 3 || !strings.Contains(words, "100×") || !strings.Contains(words, "0.12×") || strings.Contains(words, "alone") {
		t.Errorf("%d rectangles: %s", rects, words)
	}
	if s := (scale{128}); s.x(0.1) != barsLeft || s.x(128) != barsRight || s.x(8) != (barsLeft+barsRight)/2 {
		t.Errorf("the axis: %v %v %v", s.x(0.1), s.x(8), s.x(128))
	}
}

func TestOptions_RefuseInvalidValues(t *testing.T) {
	for _, bad := range []options{{pairs: 0, scale: 1, idle: 1}, {pairs: 1, scale: 0, idle: 1}, {pairs: 1, scale: 2, idle: 1},
		{pairs: 1, scale: 1, idle: 0}, {pairs: 1, scale: 1, idle: 1, rows: []string{"99"}}} {
		if bad.check() == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
	if err := (options{pairs: 1, scale: 1, idle: 1, rows: []string{"1", "13", "13a"}}).check(); err != nil {
		t.Error(err)
	}
}

// Each script has commands that exist, goals that can be read, and measures something.
func TestScripts_AreValid(t *testing.T) {
	usual := strings.Fields("env exec cd mkdir cp symlink chmod")
	for _, r := range rows() {
		archive := txtar.Parse(must(scripts.ReadFile("rows/" + r.number + ".txtar")))
		measured := 0
		for line := range strings.Lines(string(archive.Comment)) {
			words := strings.Fields(line)
			if len(words) == 0 || words[0] == "#" {
				continue
			}
			if commands[words[0]] == nil && !slices.Contains(usual, words[0]) {
				t.Errorf("row %s: there is no command %s", r.number, words[0])
			}
			if words[0] == "goal" {
				if g, err := parseGoal(words[1:]); err != nil || g == (goal{}) {
					t.Errorf("row %s: %s: %v", r.number, line, err)
				}
			}
			if slices.Contains([]string{"turns", "take", "first", "change", "changes", "rest", "reload", "people", "boot"}, words[0]) {
				measured++
			}
		}
		if lines := strings.Count(string(archive.Comment), "\nline "); r.name == "" || lines == 0 || lines != measured {
			t.Errorf("row %s %q has %d lines, and %d measurements", r.number, r.name, lines, measured)
		}
	}
}

func must(text []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return text
}

// Both manifests have the same shape.
func TestChains_HaveOneShape(t *testing.T) {
	for ext, c := range map[string][2]string{".hcl": {diskBlock, diskAfter}, ".tf": {dataBlock, dataAfter}} {
		dir := t.TempDir()
		if err := chains(dir, ext, c[0], c[1], 250); err != nil {
			t.Fatal(err)
		}
		files, _ := filepath.Glob(filepath.Join(dir, "f*"+ext))
		slices.Sort(files)
		var all bytes.Buffer
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(text)
		}
		text := all.String()
		if len(files) != 3 || strings.Count(text, "resource \"") != 250 || strings.Count(text, "after = ") != 225 ||
			strings.Contains(text, "$") {
			t.Errorf("%s: %d files, %d resources, %d references", ext, len(files), strings.Count(text, "resource \""),
				strings.Count(text, "after = "))
		}
	}
}

var update = flag.Bool("update", false, "write the table of bench/results/README.md")

// The page shows the newest figures beside their goals, and each row has a result.
func TestPage_ShowsTheNewestOfEachRow(t *testing.T) {
	all, err := results.Read("../../../bench/results")
	if err != nil {
		t.Fatal(err)
	}
	table := page.Table{Path: "../../../bench/results/README.md", Rows: results.Rows(all),
		Header: []string{"row", "what", "deployster", "times faster", "goal", "reached", "date"}}
	if err := table.Check(*update); err != nil {
		t.Error(err)
	}
	for _, r := range rows() {
		if !slices.ContainsFunc(all, func(kept results.Result) bool { return kept.Row == r.number && len(kept.Lines) > 0 }) {
			t.Errorf("row %s has no result", r.number)
		}
	}
}

// A result that was kept is read again, by the numbers of the rows.
func TestResult_IsReadAsItWasKept(t *testing.T) {
	dir := t.TempDir()
	h := results.Head{Date: "2026-11-27 10:25 UTC", Machine: "a machine"}
	l := line{What: "w", Ours: seconds(2), Beside: "other", Theirs: seconds(20), Goal: goal{Faster: 9}}
	for _, row := range []string{"13a", "2", "10", "suite"} {
		if err := keep(h, dir, row, []line{l}, true); err != nil {
			t.Fatal(err)
		}
	}
	all, err := results.Read(dir)
	if err != nil || len(all) != 4 || len(all[0].Lines[0].Theirs) != 1 {
		t.Fatalf("%+v, %v", all, err)
	}
	var order []string
	for _, row := range results.Rows(all) {
		order = append(order, row[0])
		if got := strings.Join(row[1:], "|"); got != "w|2s|10|9.0 times faster|10 ✓|2026-11-27" {
			t.Errorf("row %s: %s", row[0], got)
		}
	}
	if got := strings.Join(order, " "); got != "2 10 13a suite" {
		t.Errorf("the order is %s", got)
	}
}
