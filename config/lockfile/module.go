package lockfile

import (
	"regexp"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/source"
)

// Module is the content to which the source of a module is pinned: an image has a digest, a
// repository of git a commit.
type Module struct {
	Digest string // of the image
	Commit string
	Tree   string // the hash of all files, as git computes it
}

// What names this content to a person.
func (m Module) What() string {
	if m.Digest != "" {
		return m.Digest
	}
	return "commit " + m.Commit
}

var (
	moduleSchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "digest"}, {Name: "commit"}, {Name: "tree", Required: true}}}
	validHash    = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)
)

// write writes the attributes of a pin.
func (m Module) write(to *hclwrite.Body) {
	for _, a := range []struct{ name, value string }{{"digest", m.Digest}, {"commit", m.Commit}, {"tree", m.Tree}} {
		if a.value != "" {
			to.SetAttributeValue(a.name, cty.StringVal(a.value))
		}
	}
}

// module decodes the pin of a module.
func (l *Lock) module(b *hcl.Block) hcl.Diagnostics {
	name := b.Labels[0]
	c, diags := b.Body.Content(moduleSchema)
	if diags.HasErrors() {
		return diags
	}
	pin := Module{}
	for _, a := range []struct {
		name  string
		valid *regexp.Regexp
		into  *string
	}{{"digest", validDigest, &pin.Digest}, {"commit", validHash, &pin.Commit}, {"tree", validHash, &pin.Tree}} {
		attr := c.Attributes[a.name]
		if attr == nil {
			continue
		}
		if *a.into = literal(attr); !a.valid.MatchString(*a.into) {
			return append(diags, source.Failure(attr.Expr.Range(), "Not the pin of a module", "The %s of a pin is a hash, as "+
				"`deployster init` "+
				"writes it. Remove this block and run `deployster init`.", a.name))
		}
	}
	if (pin.Digest == "") == (pin.Commit == "") {
		return append(diags, source.Failure(b.DefRange, "Not the pin of a module", "A pin has either the digest of an image or the "+
			"commit of "+
			"a repository. Remove this block and run `deployster init`."))
	}
	if _, twice := l.Modules[name]; twice {
		return append(diags, source.Failure(b.DefRange, "Pinned twice", "There is another pin of %s at %s:%d. Remove the one that is "+
			"wrong, "+
			"or both, and run `deployster init`.", name, Name, l.At["module."+name].Start.Line))
	}
	l.Modules[name], l.At["module."+name] = pin, source.FromHCL(b.DefRange)
	return diags
}
