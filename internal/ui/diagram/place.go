package diagram

import (
	"cmp"
	"slices"
)

// The distances of the drawing, in pixels.
const (
	gapAcross = 22 // between two boxes of a layer
	gapColumn = 46 // between two columns, which holds the frames of groups
	sweeps    = 12 // how often the order and the places are improved
)

// arrange finds an order within the layers with few crossings, and then places
// that make edges straight.
func (l *layout) arrange(rightwards bool) {
	for i := range sweeps {
		l.sweep(i%2 == 0, l.reorder)
	}
	for _, layer := range l.layers {
		l.pack(layer, func(s *spot) float64 { return 0 })
	}
	for i := range sweeps {
		l.sweep(i%2 == 0, l.straighten)
	}
	l.columns(rightwards)
}

// sweep does something with every layer, forwards looking at the layer before,
// backwards at the one after.
func (l *layout) sweep(forwards bool, do func(layer []int, neighbours func(*spot) []int)) {
	for i := range l.layers {
		if forwards {
			do(l.layers[i], func(s *spot) []int { return s.before })
		} else {
			do(l.layers[len(l.layers)-1-i], func(s *spot) []int { return s.after })
		}
	}
}

// reorder sorts a layer by the mean place of the neighbours. Columns stay apart.
func (l *layout) reorder(layer []int, neighbours func(*spot) []int) {
	place := map[int]float64{}
	for i, s := range layer {
		place[s] = l.mean(neighbours(&l.spots[s]), float64(i), func(n *spot) float64 { return n.at })
	}
	slices.SortStableFunc(layer, func(a, b int) int {
		return cmp.Or(l.spots[a].column-l.spots[b].column, cmp.Compare(place[a], place[b]))
	})
	for i, s := range layer {
		l.spots[s].at = float64(i)
	}
}

func (l *layout) mean(list []int, otherwise float64, of func(*spot) float64) float64 {
	if len(list) == 0 {
		return otherwise
	}
	sum := 0.0
	for _, n := range list {
		sum += of(&l.spots[n])
	}
	return sum / float64(len(list))
}

// straighten moves the spots of a layer towards their neighbours.
func (l *layout) straighten(layer []int, neighbours func(*spot) []int) {
	l.pack(layer, func(s *spot) float64 {
		near := slices.DeleteFunc(slices.Clone(neighbours(s)), func(n int) bool { return l.spots[n].column != s.column })
		return l.mean(near, s.at, func(n *spot) float64 { return n.at })
	})
}

// pack places a layer's spots as near to where they want to be as their order
// and sizes allow: those that are in each other's way become one block, which
// stands at the mean of their wishes.
func (l *layout) pack(layer []int, wish func(*spot) float64) {
	type block struct {
		first, last int     // into layer
		sum         float64 // of the wishes, each less its offset
		offset      float64 // of the last spot from the first
	}
	place := func(b block) float64 { return b.sum / float64(b.last-b.first+1) }
	offsets := make([]float64, len(layer))
	var blocks []block
	for i, n := range layer {
		s := &l.spots[n]
		blocks = append(blocks, block{first: i, last: i, sum: wish(s)})
		for len(blocks) > 1 {
			a, b := blocks[len(blocks)-2], blocks[len(blocks)-1]
			left, right := &l.spots[layer[a.last]], &l.spots[layer[b.first]]
			if left.column != right.column {
				break // columns have coordinates of their own
			}
			apart := (left.across+right.across)/2 + gapAcross
			if place(a)+a.offset+apart <= place(b) {
				break
			}
			shift := a.offset + apart
			for j := b.first; j <= b.last; j++ {
				offsets[j] += shift
			}
			a.sum += b.sum - shift*float64(b.last-b.first+1)
			a.last, a.offset = b.last, b.offset+shift
			blocks = append(blocks[:len(blocks)-2], a)
		}
	}
	for _, b := range blocks {
		for j := b.first; j <= b.last; j++ {
			l.spots[layer[j]].at = place(b) + offsets[j]
		}
	}
}

// columns puts the columns side by side. Where they stand side by side for the
// eye too, each is as wide as its label.
func (l *layout) columns(rightwards bool) {
	type extent struct{ low, high float64 }
	extents := map[int]extent{}
	for i := range l.spots {
		s := &l.spots[i]
		e, ok := extents[s.column]
		if !ok {
			e = extent{s.at - s.across/2, s.at + s.across/2}
		}
		extents[s.column] = extent{min(e.low, s.at-s.across/2), max(e.high, s.at+s.across/2)}
	}
	gap := float64(gapColumn)
	if rightwards {
		gap += 2 * lineHeight // the labels stand between the frames
	}
	start, shift := 0.0, make([]float64, len(l.labels))
	for c := range shift {
		if missing := charWidth*float64(len([]rune(l.labels[c]))) - (extents[c].high - extents[c].low); missing > 0 && !rightwards {
			extents[c] = extent{extents[c].low - missing/2, extents[c].high + missing/2}
		}
		shift[c] = start - extents[c].low
		start += extents[c].high - extents[c].low + gap
	}
	for i := range l.spots {
		l.spots[i].at += shift[l.spots[i].column]
	}
}
