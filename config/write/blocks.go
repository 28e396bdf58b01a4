package write

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

const header = `# Written by "deployster plan -generate-config-out": what exists, as its types
# list it. Edit it as any other manifest.
`

// Blocks is a manifest of resource blocks.
type Blocks struct {
	file  *hclwrite.File
	taken map[string]bool
	count int
}

// New returns an empty manifest to be written next to existing ones, which use the taken names.
func New(taken []string) *Blocks {
	b := &Blocks{file: hclwrite.NewEmptyFile(), taken: map[string]bool{}}
	for _, name := range taken {
		b.taken[name] = true
	}
	return b
}

// Len returns the number of blocks.
func (b *Blocks) Len() int { return b.count }

// Add appends a block with a config in JSON. Its type is type.OF; its name is the suggested
// one, changed if it is not a valid name or is already taken.
func (b *Blocks) Add(of, suggested string, config json.RawMessage) {
	typ, err := ctyjson.ImpliedType(config)
	var value cty.Value
	if err == nil {
		value, err = ctyjson.Unmarshal(config, typ)
	}
	if err != nil {
		return // every config can be written
	}
	b.count++
	b.file.Body().AppendNewline()
	body := b.file.Body().AppendNewBlock("resource", []string{b.name(of, suggested)}).Body()
	body.SetAttributeTraversal("type", hcl.Traversal{hcl.TraverseRoot{Name: "type"}, hcl.TraverseAttr{Name: of}})
	body.SetAttributeValue("config", value)
}

var noName = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// name returns the name of a block.
func (b *Blocks) name(of, suggested string) string {
	base := strings.Trim(noName.ReplaceAllString(suggested, "_"), "_-")
	if base == "" {
		base = of
	}
	if first := base[0]; first >= '0' && first <= '9' {
		base = of + "_" + base
	}
	name := base
	for n := 2; b.taken[name]; n++ {
		name = fmt.Sprintf("%s_%d", base, n)
	}
	b.taken[name] = true
	return name
}

// Bytes returns the manifest.
func (b *Blocks) Bytes() []byte { return append([]byte(header), hclwrite.Format(b.file.Bytes())...) }
