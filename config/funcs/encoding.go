package funcs

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"unicode/utf8"

	yaml "github.com/zclconf/go-cty-yaml"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"deployster/config/limits"
)

// encodingFunctions encode values and text, and decode them.
func encodingFunctions() map[string]function.Function {
	return map[string]function.Function{
		"base64decode": onText(func(s string) (string, error) { return decoded(base64Bytes(s)) }),
		"base64encode": onText(func(s string) (string, error) { return base64.StdEncoding.EncodeToString([]byte(s)), nil }),
		"base64gunzip": onText(gunzip),
		"base64gzip":   onText(zip),
		"csvdecode":    limitCSV(stdlib.CSVDecodeFunc),
		"jsondecode":   limitJSON(stdlib.JSONDecodeFunc),
		"jsonencode":   stdlib.JSONEncodeFunc,
		"urlencode":    onText(func(s string) (string, error) { return url.QueryEscape(s), nil }),
		"yamldecode":   limitYAML(yaml.YAMLDecodeFunc),
		"yamlencode":   yaml.YAMLEncodeFunc,
	}
}

func base64Bytes(s string) ([]byte, error) {
	data, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return nil, errors.New("it is not base64")
	}
	return data, nil
}

// decoded converts bytes to text.
func decoded(data []byte, err error) (string, error) {
	if err == nil && !utf8.Valid(data) {
		err = errors.New("what it decodes to is not text in UTF-8")
	}
	return string(data), err
}

func zip(s string) (string, error) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, s); err != nil {
		return "", err
	}
	// The result must equal Terraform's, which flushes before it closes.
	if err := errors.Join(w.Flush(), w.Close()); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(b.Bytes()), nil
}

func gunzip(s string) (string, error) {
	data, err := base64Bytes(s)
	if err != nil {
		return "", err
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return "", errors.New("it is not compressed with gzip")
	}
	text, err := io.ReadAll(io.LimitReader(r, limits.Text+1))
	switch {
	case err != nil:
		return "", errors.New("it is compressed with gzip, and damaged")
	case len(text) > limits.Text:
		return "", fmt.Errorf("what it decompresses to has more than %d bytes", limits.Text)
	}
	return decoded(text, nil)
}

// limitJSON limits the nesting and the numbers of a document before a recursive
// decoder reads it.
func limitJSON(f function.Function) function.Function {
	return guarded(f, func(args []cty.Value) error {
		if d := limits.JSON([]byte(textAt(args, 0)), ""); d != nil {
			return function.NewArgErrorf(0, "%s", d.Detail)
		}
		return nil
	})
}

func limitYAML(f function.Function) function.Function {
	return guarded(f, func(args []cty.Value) error {
		if err := limits.YAML(textAt(args, 0)); err != nil {
			return function.NewArgError(0, err)
		}
		return nil
	})
}

// limitCSV limits the cells of a table: the commas of the first line give the cells of each line.
func limitCSV(f function.Function) function.Function {
	return guarded(f, func(args []cty.Value) error {
		text := textAt(args, 0)
		head, _, _ := strings.Cut(text, "\n")
		if rows := strings.Count(text, "\n") + 1; rows > limits.Elements/(strings.Count(head, ",")+1) {
			return function.NewArgErrorf(0, "it has more than %d cells", limits.Elements)
		}
		return nil
	})
}
