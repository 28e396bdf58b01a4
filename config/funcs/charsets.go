package funcs

import (
	"encoding/base64"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/ianaindex"
)

// charsetFunctions convert text to and from other character encodings than UTF-8.
func charsetFunctions() map[string]function.Function {
	return map[string]function.Function{
		"textdecodebase64": onCharset("source", func(s string, set encoding.Encoding) (string, error) {
			data, err := base64Bytes(s)
			if err != nil {
				return "", function.NewArgError(0, err)
			}
			text, err := set.NewDecoder().Bytes(data)
			if err != nil {
				return "", function.NewArgErrorf(0, "it is not text in this encoding")
			}
			return string(text), nil
		}),
		"textencodebase64": onCharset("text", func(s string, set encoding.Encoding) (string, error) {
			data, err := set.NewEncoder().Bytes([]byte(s))
			if err != nil {
				return "", function.NewArgErrorf(0, "it has characters that this encoding does not have")
			}
			return base64.StdEncoding.EncodeToString(data), nil
		}),
	}
}

func onCharset(first string, f func(string, encoding.Encoding) (string, error)) function.Function {
	params := []function.Parameter{param(first, cty.String), param("encoding", cty.String)}
	return define(cty.String, params, func(args []cty.Value) (cty.Value, error) {
		name := args[1].AsString()
		set, err := ianaindex.IANA.Encoding(name)
		if err != nil || set == nil {
			return cty.NilVal, function.NewArgErrorf(1,
				"%q is not one of the supported IANA names of encodings, such as \"UTF-16LE\" or \"windows-1252\"", name)
		}
		s, err := f(args[0].AsString(), set)
		if err != nil {
			return cty.NilVal, err
		}
		return cty.StringVal(s), nil
	})
}
