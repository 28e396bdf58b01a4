package funcs

import (
	"encoding/base64"
	"errors"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// Files are the files that functions may read. Paths are given as they are
// written in a manifest; errors are sentences for its author.
type Files interface {
	// Read gives the bytes of a file, Text those of one that is text in UTF-8.
	Read(path string) ([]byte, error)
	Text(path string) (string, error)
	// Exists reports whether there is a regular file.
	Exists(path string) (bool, error)
	// Match gives the regular files below a directory whose paths from there
	// match a pattern, sorted, with slashes.
	Match(dir, pattern string) ([]string, error)
}

// noFiles is what there is to read where no files are given.
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
