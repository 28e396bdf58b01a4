package lockfile

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/limits"
	"deployster/config/source"
	"deployster/internal/base/diag"
)

// Name is the lock file's name, next to the manifests.
const Name = ".deployster.lock.hcl"

// Lock is the content of a lock file: the digest of each image, by its full name, the
// pinned versions of artifacts, and the content of modules that come from elsewhere.
type Lock struct {
	Images    map[string]string
	Artifacts map[string]Pin
	Modules   map[string]Module     // by the source, without the directory in it
	At        map[string]diag.Range // the place of each pin; an artifact has the key "artifact.NAME", a module "module.SOURCE"
}

// Pin is the version to which an artifact is pinned.
type Pin struct {
	Space   string // "" for images without spaces
	Version map[string]string
}

const header = `# Written by "deployster init", which pins each image to the digest that its
# name had then, and by "deployster artifact pin". Keep it under version
# control. "deployster init -upgrade" moves the pins to what the names have now.
`

// Bytes returns the file's content: the same images always give the same bytes.
func (l *Lock) Bytes() []byte {
	f := hclwrite.NewEmptyFile()
	for _, name := range slices.Sorted(maps.Keys(l.Images)) {
		f.Body().AppendNewline()
		block := f.Body().AppendNewBlock("image", []string{name})
		block.Body().SetAttributeValue("digest", cty.StringVal(l.Images[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(l.Modules)) {
		f.Body().AppendNewline()
		l.Modules[name].write(f.Body().AppendNewBlock("module", []string{name}).Body())
	}
	for _, name := range slices.Sorted(maps.Keys(l.Artifacts)) {
		f.Body().AppendNewline()
		body, pin := f.Body().AppendNewBlock("artifact", []string{name}).Body(), l.Artifacts[name]
		if pin.Space != "" {
			body.SetAttributeValue("space", cty.StringVal(pin.Space))
		}
		parts := make(map[string]cty.Value, len(pin.Version))
		for part, text := range pin.Version {
			parts[part] = cty.StringVal(text)
		}
		body.SetAttributeValue("version", cty.ObjectVal(parts))
	}
	return append([]byte(header), f.Bytes()...)
}

var (
	lockSchema = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "image", LabelNames: []string{"name"}},
		{Type: "artifact", LabelNames: []string{"name"}}, {Type: "module", LabelNames: []string{"source"}}}}
	lockArtifactSchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "space"}, {Name: "version", Required: true}}}
	lockImageSchema    = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "digest", Required: true}}}
	validDigest        = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
)

// Read reads the lock file of a directory. It returns nil if there is none.
func Read(dir string) (*Lock, diag.Diagnostics) {
	content, err := os.ReadFile(filepath.Join(dir, Name))
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, diag.Diagnostics{diag.Errorf("The lock file cannot be read", "%s.", err)}
	}
	return Parse(content)
}

// Parse parses the content of a lock file.
func Parse(content []byte) (*Lock, diag.Diagnostics) {
	l := &Lock{Images: map[string]string{}, Artifacts: map[string]Pin{}, Modules: map[string]Module{}, At: map[string]diag.Range{}}
	// Errors show its source line, as for a manifest.
	s := source.NewText(Name, content)
	if line := conflictLine(content); line > 0 {
		start := lineStart(content, line)
		at := diag.Range{Filename: Name, Start: diag.Position{Line: line, Column: 1, Byte: start},
			End: diag.Position{Line: line, Column: 8, Byte: start + 7}}
		d := diag.Errorf("The lock file has conflicts of a merge in it",
			"Two branches have changed it. Keep one side, or remove the file, and run `deployster init`, which writes it again.")
		return nil, diag.Diagnostics{s.Diagnose(d, &at)}
	}
	if len(content) > source.MaxFileSize {
		return nil, s.Convert(hcl.Diagnostics{limits.Exceeded(hcl.Range{Filename: Name, Start: hcl.InitialPos, End: hcl.InitialPos},
			"bytes in one file",
			source.MaxFileSize)}, nil)
	}
	if d := limits.Native(content, Name, false, hcl.InitialPos); d != nil {
		return nil, s.Convert(hcl.Diagnostics{d}, nil)
	}
	f, diags := hclsyntax.ParseConfig(content, Name, hcl.InitialPos)
	if diags.HasErrors() {
		return nil, s.Convert(diags, nil)
	}
	if d := newerLock(f.Body.(*hclsyntax.Body)); d != nil {
		return nil, s.Convert(hcl.Diagnostics{d}, nil)
	}
	body, diags := f.Body.Content(lockSchema)
	for _, b := range body.Blocks {
		switch b.Type {
		case "artifact":
			diags = append(diags, l.artifact(b)...)
		case "module":
			diags = append(diags, l.module(b)...)
		default:
			diags = append(diags, l.image(b)...)
		}
	}
	if diags.HasErrors() {
		return nil, s.Convert(diags, nil)
	}
	return l, nil
}

// lockAttributes are the attributes of each block of a lock file.
var lockAttributes = map[string][]string{"image": {"digest"}, "artifact": {"space", "version"},
	"module": {"digest", "commit", "tree"}}

// newerLock reports what only a later version could have written, nil for nothing.
func newerLock(body *hclsyntax.Body) *hcl.Diagnostic {
	newer := func(what string, at hcl.Range) *hcl.Diagnostic {
		return source.Failure(at, "The lock file is of a newer deployster", "It has %s, which this deployster does not know. Use the "+
			"version that wrote it, or a later one. If it was edited by hand, remove that.", what)
	}
	attributes := func(body *hclsyntax.Body, known []string) *hcl.Diagnostic {
		for _, name := range slices.Sorted(maps.Keys(body.Attributes)) {
			if !slices.Contains(known, name) {
				return newer("the attribute "+name, body.Attributes[name].NameRange)
			}
		}
		return nil
	}
	if d := attributes(body, nil); d != nil {
		return d
	}
	for _, b := range body.Blocks {
		known := lockAttributes[b.Type]
		if known == nil {
			return newer("a block "+b.Type, b.DefRange())
		}
		if len(b.Body.Blocks) > 0 {
			return newer("a block "+b.Body.Blocks[0].Type+" in a block "+b.Type, b.Body.Blocks[0].DefRange())
		}
		if d := attributes(b.Body, known); d != nil {
			return d
		}
	}
	return nil
}

// image decodes the pin of an image.
func (l *Lock) image(b *hcl.Block) hcl.Diagnostics {
	name := b.Labels[0]
	c, diags := b.Body.Content(lockImageSchema)
	a := c.Attributes["digest"]
	if a == nil {
		return diags
	}
	text := literal(a)
	if !validDigest.MatchString(text) {
		return append(diags, source.Failure(a.Expr.Range(), "Not a digest", "A digest is written sha256: and 64 digits of 0-9 and a-f. "+
			"`deployster init` writes this file; by hand there is nothing to do in it."))
	}
	if _, twice := l.Images[name]; twice {
		return append(diags, source.Failure(b.DefRange, "Pinned twice", "There is another digest of %s at %s:%d. Remove the one that is "+
			"wrong, or both, and run `deployster init`.", name, Name, l.At[name].Start.Line))
	}
	l.Images[name], l.At[name] = text, source.FromHCL(b.DefRange)
	return diags
}

// literal returns the text of an attribute that is a constant in quotes; "" = it is not.
func literal(a *hcl.Attribute) string {
	t, ok := a.Expr.(*hclsyntax.TemplateExpr)
	if !ok || !t.IsStringLiteral() {
		return ""
	}
	v, _ := t.Value(nil) // a literal always has a value
	return v.AsString()
}

// artifact decodes the pin of an artifact.
func (l *Lock) artifact(b *hcl.Block) hcl.Diagnostics {
	name := b.Labels[0]
	c, diags := b.Body.Content(lockArtifactSchema)
	a := c.Attributes["version"]
	if a == nil {
		return diags
	}
	pin := Pin{Version: map[string]string{}}
	if space := c.Attributes["space"]; space != nil {
		v, d := space.Expr.Value(nil)
		if d.HasErrors() || v.Type() != cty.String || v.IsNull() {
			return append(diags, source.Failure(space.Expr.Range(), "Not a space", "The space of a pin is text in quotes."))
		}
		pin.Space = v.AsString()
	}
	v, d := a.Expr.Value(nil)
	if d.HasErrors() || !v.Type().IsObjectType() || v.IsNull() || v.LengthInt() == 0 {
		return append(diags, source.Failure(a.Expr.Range(), "Not a version", "The version of a pin is an object of text, as `deployster "+
			"artifact pin %s` writes it.", name))
	}
	for part, text := range v.AsValueMap() {
		if text.Type() != cty.String || text.IsNull() {
			return append(diags, source.Failure(a.Expr.Range(), "Not a version", "The version of a pin is an object of text, and %s is "+
				"not.", part))
		}
		pin.Version[part] = text.AsString()
	}
	if _, twice := l.Artifacts[name]; twice {
		return append(diags, source.Failure(b.DefRange, "Pinned twice", "There is another version of the artifact %s at %s:%d. Remove "+
			"the one "+
			"that is wrong.", name, Name, l.At["artifact."+name].Start.Line))
	}
	l.Artifacts[name], l.At["artifact."+name] = pin, source.FromHCL(b.DefRange)
	return diags
}

// conflictLine returns the line of the first mark of a merge conflict; 0 = there is none.
func conflictLine(content []byte) int {
	for i, line := range strings.Split(string(content), "\n") {
		if strings.HasPrefix(line, "<<<<<<<") || strings.HasPrefix(line, "=======") || strings.HasPrefix(line, ">>>>>>>") {
			return i + 1
		}
	}
	return 0
}

func lineStart(content []byte, line int) int {
	at := 0
	for ; line > 1; line-- {
		at += bytes.IndexByte(content[at:], '\n') + 1
	}
	return at
}
