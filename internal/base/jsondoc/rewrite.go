package jsondoc

import (
	"bytes"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// Place is the place of a text in a document.
type Place struct {
	Path []string // the keys that lead to it, without indexes of arrays. It must not be kept after the call
	Key  bool     // the text is a key; Path does not include it

	Number bool // the text is a number
}

// Rewrite passes every string and every number of a document through change, and leaves
// every other byte unchanged. A number that changes becomes a string. The document should
// be valid JSON; where it ceases to be, change gets the rest as one text.
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

// rewriter is the position in a document.
type rewriter struct {
	dec    *jsontext.Decoder
	change func(string, Place) string
	out    []byte
	done   int // how many bytes of the document are copied to out

	path []string
	open []int // the length of path at the begin of each enclosing object and array
}

// next reads one token, and returns it with its replacement; brackets have no literal.
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
		r.path = r.path[:r.open[len(r.open)-1]] // the previous member has ended
	}
	after := r.change(text, Place{Path: r.path, Key: key, Number: kind == '0'})
	if key {
		r.path = append(r.path, text)
	}
	if after == text {
		return literal, literal, nil
	}
	changed, err = Encode(after)
	return literal, changed, err
}
