package schema

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/zclconf/go-cty/cty"

	"deployster/bridge/internal/tfplugin/tfplugin5"
	"deployster/bridge/internal/tfplugin/tfplugin6"
)

// Schema is the provider's schema of a kind, or of its own config.
type Schema struct {
	Version     int64
	Block       *Block
	Description string
}

// Block has attributes and nested blocks. An attribute with a nested type has a Block
// too, without nested blocks.
type Block struct {
	Attributes map[string]*Attribute
	Blocks     map[string]*Nested

	once sync.Once
	made cty.Type // type of its values, built once
}

// Attribute is an attribute of a block.
type Attribute struct {
	Type                                               cty.Type
	Nested                                             *Nested // nil = none; otherwise Type is its type
	Description                                        string
	Required, Optional, Computed, Sensitive, WriteOnly bool
	Deprecated                                         bool
}

// Mode reports how many blocks of a type are allowed, and how they are identified.
type Mode int

// The modes. A Group is a single block that always exists.
const (
	Single Mode = iota + 1
	List
	Set
	Map
	Group
)

// Nested is a block in a block.
type Nested struct {
	Block    *Block
	Mode     Mode
	Min, Max int64 // 0 = no limit is given
}

// Provider has all schemas of a provider.
type Provider struct {
	Config          *Schema
	Resources, Data map[string]*Schema
	Ephemeral       map[string]*Schema
	PlanDestroy     bool
}

// Read6 reads the schemas from a response of protocol 6.
func Read6(r *tfplugin6.GetProviderSchema_Response) (*Provider, error) {
	p := &Provider{Resources: map[string]*Schema{}, Data: map[string]*Schema{}, Ephemeral: map[string]*Schema{},
		PlanDestroy: r.GetServerCapabilities().GetPlanDestroy()}
	var err error
	if p.Config, err = of(r.GetProvider()); err != nil {
		return nil, fmt.Errorf("the config of the provider: %w", err)
	}
	for into, from := range map[*map[string]*Schema]map[string]*tfplugin6.Schema{
		&p.Resources: r.GetResourceSchemas(), &p.Data: r.GetDataSourceSchemas(), &p.Ephemeral: r.GetEphemeralResourceSchemas(),
	} {
		for name, s := range from {
			if (*into)[name], err = of(s); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return p, nil
}

// Read5 reads the schemas from a response of protocol 5, whose messages differ from those of protocol 6.
func Read5(r *tfplugin5.GetProviderSchema_Response) (*Provider, error) {
	six := &tfplugin6.GetProviderSchema_Response{Provider: raised(r.GetProvider()), ResourceSchemas: map[string]*tfplugin6.Schema{},
		DataSourceSchemas: map[string]*tfplugin6.Schema{}, EphemeralResourceSchemas: map[string]*tfplugin6.Schema{},
		ServerCapabilities: &tfplugin6.ServerCapabilities{PlanDestroy: r.GetServerCapabilities().GetPlanDestroy()}}
	for name, s := range r.GetResourceSchemas() {
		six.ResourceSchemas[name] = raised(s)
	}
	for name, s := range r.GetDataSourceSchemas() {
		six.DataSourceSchemas[name] = raised(s)
	}
	for name, s := range r.GetEphemeralResourceSchemas() {
		six.EphemeralResourceSchemas[name] = raised(s)
	}
	return Read6(six)
}

// raised converts a schema of protocol 5 to protocol 6.
func raised(s *tfplugin5.Schema) *tfplugin6.Schema {
	if s == nil {
		return nil
	}
	return &tfplugin6.Schema{Version: s.GetVersion(), Block: raisedBlock(s.GetBlock())}
}

func raisedBlock(b *tfplugin5.Schema_Block) *tfplugin6.Schema_Block {
	out := &tfplugin6.Schema_Block{Version: b.GetVersion(), Description: b.GetDescription(), Deprecated: b.GetDeprecated()}
	for _, a := range b.GetAttributes() {
		out.Attributes = append(out.Attributes, &tfplugin6.Schema_Attribute{Name: a.GetName(), Type: a.GetType(),
			Description: a.GetDescription(),
			Required:    a.GetRequired(), Optional: a.GetOptional(), Computed: a.GetComputed(), Sensitive: a.GetSensitive(),
			Deprecated: a.GetDeprecated(), WriteOnly: a.GetWriteOnly()})
	}
	for _, n := range b.GetBlockTypes() {
		out.BlockTypes = append(out.BlockTypes, &tfplugin6.Schema_NestedBlock{TypeName: n.GetTypeName(), Block: raisedBlock(n.GetBlock()),
			Nesting: tfplugin6.Schema_NestedBlock_NestingMode(n.GetNesting()), MinItems: n.GetMinItems(), MaxItems: n.GetMaxItems()})
	}
	return out
}

func of(s *tfplugin6.Schema) (*Schema, error) {
	b, err := blockOf(s.GetBlock())
	return &Schema{Version: s.GetVersion(), Block: b, Description: s.GetBlock().GetDescription()}, err
}

func blockOf(b *tfplugin6.Schema_Block) (*Block, error) {
	out, err := attributesOf(b.GetAttributes())
	if err != nil {
		return nil, err
	}
	for _, n := range b.GetBlockTypes() {
		inner, err := blockOf(n.GetBlock())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", n.GetTypeName(), err)
		}
		mode := map[tfplugin6.Schema_NestedBlock_NestingMode]Mode{1: Single, 2: List, 3: Set, 4: Map, 5: Group}[n.GetNesting()]
		if mode == 0 {
			return nil, fmt.Errorf("%s: its nesting %s is not known", n.GetTypeName(), n.GetNesting())
		}
		out.Blocks[n.GetTypeName()] = &Nested{Block: inner, Mode: mode, Min: n.GetMinItems(), Max: n.GetMaxItems()}
	}
	return out, nil
}

func attributesOf(list []*tfplugin6.Schema_Attribute) (*Block, error) {
	out := &Block{Attributes: map[string]*Attribute{}, Blocks: map[string]*Nested{}}
	for _, a := range list {
		one := &Attribute{Description: a.GetDescription(), Required: a.GetRequired(), Optional: a.GetOptional(), Computed: a.GetComputed(),
			Sensitive: a.GetSensitive(), WriteOnly: a.GetWriteOnly(), Deprecated: a.GetDeprecated()}
		if n := a.GetNestedType(); n != nil {
			inner, err := attributesOf(n.GetAttributes())
			if err != nil {
				return nil, fmt.Errorf("%s: %w", a.GetName(), err)
			}
			mode := map[tfplugin6.Schema_Object_NestingMode]Mode{1: Single, 2: List, 3: Set, 4: Map}[n.GetNesting()]
			one.Nested = &Nested{Block: inner, Mode: mode}
			one.Type = one.Nested.Type()
		} else if err := json.Unmarshal(a.GetType(), &one.Type); err != nil {
			return nil, fmt.Errorf("%s: its type cannot be read: %w", a.GetName(), err)
		}
		out.Attributes[a.GetName()] = one
	}
	return out, nil
}

// Type returns the type of the values of a block. It is built only once, since that takes long for large blocks.
func (b *Block) Type() cty.Type {
	b.once.Do(func() {
		types := map[string]cty.Type{}
		for name, a := range b.Attributes {
			types[name] = a.Type
		}
		for name, n := range b.Blocks {
			types[name] = n.Type()
		}
		b.made = cty.Object(types)
	})
	return b.made
}

// Type returns the type of all values of a nested block together. A block with attributes
// of dynamic type cannot be in a list or a map, whose elements have the same type.
func (n *Nested) Type() cty.Type {
	inner := n.Block.Type()
	switch {
	case n.Mode == Single || n.Mode == Group:
		return inner
	case n.Mode == Set:
		return cty.Set(inner)
	case inner.HasDynamicTypes():
		return cty.DynamicPseudoType
	case n.Mode == Map:
		return cty.Map(inner)
	}
	return cty.List(inner)
}
