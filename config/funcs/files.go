package funcs

import (
	"encoding/base64"
	"errors"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// Files gives functions access to files. Paths are as in a manifest; errors are
// sentences for its author.
type Files interface {
	// Read returns the bytes of a file, Text those of a file that is UTF-8 text.
	Read(path string) ([]byte, error)
	Text(path string) (string, error)
	// Exists reports whether a regular file exists.
	Exists(path string) (bool, error)
	// Match returns the regular files below a directory whose paths relative to it
	// match a pattern, sorted, with slashes.
	Match(dir, pattern string) ([]string, error)
}

// noFiles is the Files of an Env without files.
type noFiles struct{}

var errNoFiles = errors.New("no files can be read here")

func (noFiles) Read(string) ([]byte, error)            { return nil, errNoFiles }
func (noFiles) Text(string) (string, error)            { return "", errNoFiles }
func (noFiles) Exists(string) (bool, error)            { return false, errNoFiles }
func (noFiles) Match(string, string) ([]string, error) { return nil, errNoFiles }

// fileFunctions read files.
func fileFunctions(files Files) map[string]function.Function {
	path := param("path", cty.String)
	all := map[string]function.Function{
		"file": onTextAs("path", files.Text),
		"filebase64": onTextAs("path", func(p string) (string, error) {
			data, err := files.Read(p)
			return base64.StdEncoding.EncodeToString(data), err
		}),
		"fileexists": define(cty.Bool, []function.Parameter{path}, func(args []cty.Value) (cty.Value, error) {
			found, err := files.Exists(args[0].AsString())
			if err != nil {
				return cty.NilVal, function.NewArgError(0, err)
			}
			return cty.BoolVal(found), nil
		}),
		"fileset": define(cty.Set(cty.String), []function.Parameter{path, param("pattern", cty.String)},
			func(args []cty.Value) (cty.Value, error) {
				names, err := files.Match(args[0].AsString(), args[1].AsString())
				if err != nil {
					return cty.NilVal, err
				}
				found := make([]cty.Value, len(names))
				for i, name := range names {
					found[i] = cty.StringVal(name)
				}
				if len(found) == 0 {
					return cty.SetValEmpty(cty.String), nil
				}
				return cty.SetVal(found), nil
			}),
	}
	for _, d := range digests() {
		all["file"+d.name] = onTextAs("path", func(p string) (string, error) {
			data, err := files.Read(p)
			return d.text(data), err
		})
	}
	return all
}
