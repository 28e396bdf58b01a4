package secret

import (
	"slices"
	"strings"
	"sync"

	"deployster/internal/base/loglines"
)

// minLine is the counterpart of MinEmbedded for one line of a secret of several lines.
const minLine = 8

// Hider removes secrets from texts. Secrets can be added later; it is safe for concurrent
// use.
type Hider struct {
	mu    sync.RWMutex
	exact map[string]bool
	// embedded are the forms that are searched for in longer texts, by their first
	// MinEmbedded bytes, the longest first: one secret may be part of another.
	embedded map[uint32][]form
	// maybe has a bit for each hash of such a beginning: nearly all places of a text have none.
	maybe [1 << 10]uint64
}

// NewHider returns a Hider for the secrets, in the forms in which programs print them.
func NewHider(secrets []string) *Hider {
	h := &Hider{exact: map[string]bool{}, embedded: map[uint32][]form{}}
	for _, s := range secrets {
		h.Add(s)
	}
	return h
}

// Add adds a secret.
func (h *Hider) Add(s string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.exact[s] = s != ""
	// Space around a secret, such as the newline at the end of a file, is not always printed.
	word := strings.TrimSpace(s)
	if h.exact[word] = word != ""; len(word) >= MinEmbedded {
		for _, one := range forms(word) {
			h.embed(one)
		}
	}
	if !strings.Contains(word, "\n") {
		return
	}
	// Logs are hidden line by line, and a key may have many lines.
	for line := range strings.SplitSeq(word, "\n") {
		if line = strings.TrimSpace(line); len(line) >= minLine {
			for _, text := range escapes(line) {
				h.embed(form{text: text})
			}
		}
	}
	for _, text := range wrapped(word) {
		h.embed(form{text: text})
	}
}

// embed adds a form to search for. The lock is held.
func (h *Hider) embed(one form) {
	if len(one.text) < MinEmbedded {
		return
	}
	start := begin(one.text)
	list := h.embedded[start]
	if at, known := slices.BinarySearchFunc(list, one, longestFirst); !known {
		h.embedded[start] = slices.Insert(list, at, one)
		bit := hashed(start)
		h.maybe[bit/64] |= 1 << (bit % 64)
	}
}

func longestFirst(a, b form) int {
	if len(a.text) != len(b.text) {
		return len(b.text) - len(a.text)
	}
	return strings.Compare(a.text, b.text)
}

// begin returns the first MinEmbedded bytes of a text as a number.
func begin(text string) uint32 {
	return uint32(text[0])<<24 | uint32(text[1])<<16 | uint32(text[2])<<8 | uint32(text[3])
}

// hashed returns the bit of a beginning.
func hashed(start uint32) uint32 { return start * 0x9e3779b1 >> 16 }

// Hide returns a text with the secrets masked.
func (h *Hider) Hide(text string) string {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if h.exact[text] {
		return Masked
	}
	before, gap, after, found := loglines.AtGap(text)
	if !found {
		return h.hide(text, false, false)
	}
	out := h.hide(before, false, true) + gap
	for {
		before, gap, after, found = loglines.AtGap(after)
		out += h.hide(before, true, found) + gap
		if !found {
			return out
		}
	}
}

// hide masks the secrets in a text, which may begin or end within one. The lock is held.
func (h *Hider) hide(text string, within, cut bool) string {
	whole, isCut := strings.CutSuffix(text, loglines.Cut)
	isCut = isCut || cut
	var out strings.Builder
	done, start := 0, uint32(0)
	if within {
		if done = h.rest(text); done > 0 {
			out.WriteString(Masked)
		}
	}
	for at := 0; at < len(text); at++ {
		start = start<<8 | uint32(text[at])
		from := at - MinEmbedded + 1
		if from < done {
			continue
		}
		if bit := hashed(start); h.maybe[bit/64]&(1<<(bit%64)) == 0 {
			continue
		}
		begin, end := h.at(start, text, from, done)
		if end == 0 && isCut && h.goesOn(start, whole[min(from, len(whole)):]) {
			begin, end = from, len(whole)
		}
		if end == 0 {
			continue
		}
		out.WriteString(text[done:begin])
		out.WriteString(Masked)
		done, at = end, end-1
	}
	if done == 0 {
		return text
	}
	out.WriteString(text[done:])
	return out.String()
}

// hasAny reports whether there is a secret to hide.
func (h *Hider) hasAny() bool {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return len(h.exact) > 0
}

// Holds reports whether a secret is in a text.
func (h *Hider) Holds(text string) bool { return h.Hide(text) != text }

// at returns where the longest form begins and ends that is found at a place of a text; the
// end 0 = none. What is before done is masked already. The lock is held.
func (h *Hider) at(start uint32, text string, from, done int) (begin, end int) {
	for _, one := range h.embedded[start] {
		if !strings.HasPrefix(text[from:], one.text) {
			continue
		}
		begin, end = from, from+len(one.text)
		if one.left && begin > done && isBase64(text[begin-1]) {
			begin--
		}
		if one.right && end < len(text) && isBase64(text[end]) {
			end++
		}
		return begin, end
	}
	return 0, 0
}

// goesOn reports whether the rest of a cut line is the beginning of a form. The lock is held.
func (h *Hider) goesOn(start uint32, rest string) bool {
	return len(rest) >= MinEmbedded && slices.ContainsFunc(h.embedded[start], func(one form) bool {
		return strings.HasPrefix(one.text, rest)
	})
}

// rest returns the length of the longest end of a form with which a text begins, 0 = there is
// none. The lock is held.
func (h *Hider) rest(text string) (longest int) {
	for _, list := range h.embedded {
		for _, one := range list {
			for n := len(one.text) - 1; n >= max(MinEmbedded, longest+1); n-- {
				if strings.HasPrefix(text, one.text[len(one.text)-n:]) {
					longest = n
				}
			}
		}
	}
	return longest
}

func isBase64(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("+/-_", c) >= 0
}
