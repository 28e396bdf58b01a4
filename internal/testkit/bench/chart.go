package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"math"
	"strings"

	"deployster/internal/testkit/bench/results"
)

// The sizes of the chart, in pixels.
const (
	chartWidth = 880
	barsLeft   = 24
	barsRight  = 770
	barsTop    = 84
	barStep    = 50 // from one bar to the next: its words, and the bar
	barHeight  = 14
	lowest     = 0.5 // times faster, at the left edge
)

// chartStyle gives the chart a paper of its own, so that it can be read on any
// page; where the reader's system is dark, so is the paper.
const chartStyle = `
text { font-family: system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; font-size: 13px; fill: #1f2328; }
.paper { fill: #ffffff; stroke: #d0d7de; }
.title { font-size: 17px; font-weight: 600; }
.soft { fill: #59636e; font-size: 12px; }
.number { font-weight: 600; }
.grid { stroke: #d8dee4; }
.one { stroke: #59636e; }
.bar { fill: #2da44e; }
.missed { fill: #bf8700; }
.spread { stroke: #1f2328; }
.goal { stroke: #cf222e; stroke-width: 3; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; }
.paper { fill: #0d1117; stroke: #3d444d; }
.soft { fill: #9198a1; }
.grid { stroke: #2a313a; }
.one { stroke: #9198a1; }
.bar { fill: #2ea043; }
.missed { fill: #d29922; }
.spread { stroke: #e6edf3; }
.goal { stroke: #ff7b72; }
}
`

// scale places ratios on a logarithmic axis.
type scale struct{ highest float64 }

func (s scale) x(ratio float64) float64 {
	at := math.Log(min(max(ratio, lowest), s.highest)/lowest) / math.Log(s.highest/lowest)
	return barsLeft + at*(barsRight-barsLeft)
}

// chart draws how many times faster each line is than what stands beside it:
// bars with their spread, and the goals. Lines with nothing beside them are
// left to the table.
func chart(h results.Head, lines []line) string {
	var bars []line
	s := scale{2}
	for _, l := range lines {
		f := l.faster()
		if len(f) == 0 {
			continue
		}
		bars = append(bars, l)
		for s.highest < max(spreadOf(f).high, l.Goal.Faster)*1.05 {
			s.highest *= 2
		}
	}
	height := barsTop + barStep*len(bars) + 70
	b := &strings.Builder{}
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="%[2]d" viewBox="0 0 %[1]d %[2]d" `, chartWidth, height)
	fmt.Fprintf(b, `role="img" aria-label="How many times faster deployster is">`+"\n<style>%s</style>\n", chartStyle)
	fmt.Fprintf(b, `<rect class="paper" x="0.5" y="0.5" width="%d" height="%d" rx="8"/>`+"\n", chartWidth-1, height-1)
	words(b, "title", barsLeft, 32, "How many times faster deployster is")
	words(b, "soft", barsLeft, 54, "medians on a logarithmic scale; the thin line is the spread; the red mark is the goal")
	for at := lowest; at <= s.highest; at *= 2 {
		class := "grid"
		if at == 1 {
			class = "one"
		}
		stroke(b, class, s.x(at), barsTop-4, s.x(at), float64(height-58))
		words(b, "soft", s.x(at)-6, float64(height-42), factorLabel(at))
	}
	for i, l := range bars {
		drawBar(b, s, l, float64(barsTop+barStep*i))
	}
	words(b, "soft", barsLeft, float64(height-18), h.Machine+"; "+h.Date)
	b.WriteString("</svg>\n")
	return b.String()
}

// drawBar draws one line of the table, its words above its bar. It begins at 1,
// where neither is faster.
func drawBar(b *strings.Builder, s scale, l line, top float64) {
	f := spreadOf(l.faster())
	words(b, "", barsLeft, top+14, plain(l.What)+", beside "+plain(l.Beside))
	top += 22
	class := "bar"
	if f.median < max(1, l.Goal.Faster) {
		class = "missed"
	}
	from, to := s.x(1), s.x(f.median)
	fmt.Fprintf(b, `<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%d"/>`+"\n", class, min(from, to), top, math.Abs(to-from),
		barHeight)
	stroke(b, "spread", s.x(f.low), top+barHeight/2, s.x(f.high), top+barHeight/2)
	end := max(from, to, s.x(f.high))
	if g := l.Goal.Faster; g > 0 {
		stroke(b, "goal", s.x(g), top-3, s.x(g), top+barHeight+3)
		end = max(end, s.x(g))
	}
	words(b, "number", end+8, top+barHeight-2, factor(f.median)+"×")
}

func factorLabel(at float64) string {
	if at < 1 {
		return fmt.Sprintf("1/%.0f", 1/at)
	}
	return fmt.Sprintf("%.0f×", at)
}

func plain(text string) string { return strings.ReplaceAll(text, "`", "") }

func stroke(b *strings.Builder, class string, x1, y1, x2, y2 float64) {
	fmt.Fprintf(b, `<line class="%s" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`+"\n", class, x1, y1, x2, y2)
}

func words(b *strings.Builder, class string, x, y float64, text string) {
	var safe bytes.Buffer
	_ = xml.EscapeText(&safe, []byte(text)) // a buffer takes everything
	fmt.Fprintf(b, `<text class="%s" x="%.1f" y="%.1f">%s</text>`+"\n", class, x, y, safe.String())
}
