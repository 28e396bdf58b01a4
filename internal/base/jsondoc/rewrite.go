package jsondoc

import (
	"bytes"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// Place is where a text stands in a document.
type Place struct {
	Path []string // the keys that lead to it; elements of arrays have none of their own. Not to be kept
	Key  bool     // it is a key itself, the last one of Path not being it
}

// Rewrite passes every string and every number of a document through change,
// and leaves everything else as it is to the byte. A number that is changed
// becomes a string. The document must be valid JSON; from where it is not,
// change is given it as one text.
func Rewrite(data []byte, change func(text string, at Place) string) []byte {
	r := rewriter{dec: jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)),
		change: change, out: make([]byte, 0, len(data)+len(data)/16)}
	for {
		begin := len(r.out)
		literal, changed, err := r.next()
		end := int(r.dec.InputOffset())
		switch {
		case errors.Is(err, io.EOF):
			return append(r.out, data[r.done:]...)
		case err != nil:
			return append(r.out[:begin], change(string(data[r.done:]), Place{})...)
		}
		r.out = append(append(r.out, data[r.done:end-len(literal)]...), changed...)
		r.done = end
	}
}

// rewriter is at one place of a document.
type rewriter struct {
	dec    *jsontext.Decoder
	change func(string, Place) string
	out    []byte
	done   int // up to where the document was taken over

	path []string
	open []int // how long the path was when each object and array around began
}

// next reads one token, and returns it with what stands in its place; brackets have
// no literal.
func (r *rewriter) next() (literal, changed []byte, err error) {
	kind := r.dec.PeekKind()
	switch kind {
	case '{', '[':
		r.open = append(r.open, len(r.path))
		_, err = r.dec.ReadToken()
		return nil, nil, err
	case '}', ']':
		if _, err = r.dec.ReadToken(); err == nil {
			last := len(r.open) - 1
			r.path, r.open = r.path[:r.open[last]], r.open[:last]
		}
		return nil, nil, err
	}
	literal, err = r.dec.ReadValue()
	if err != nil || kind != '"' && kind != '0' {
		return literal, literal, err
	}
	text := string(literal)
	if kind == '"' {
		text = Text(literal)
	}
	key := atName(r.dec)
	if key {
		r.path = r.path[:r.open[len(r.open)-1]] // the member before it has ended
	}
	after := r.change(text, Place{r.path, key})
	if key {
		r.path = append(r.path, text)
	}
	if after == text {
		return literal, literal, nil
	}
	changed, err = Encode(after)
	return literal, changed, err
}
