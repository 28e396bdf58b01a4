package config

import (
	"maps"

	"github.com/hashicorp/hcl/v2/ext/tryfunc"
	yaml "github.com/zclconf/go-cty-yaml"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// functions are the functions that expressions may call, under the names that
// Terraform gave them. None of them looks at the clock, at chance, or at
// anything outside the manifest's directory: the same manifest with the same
// variables gives the same values.
func functions(r *reader) map[string]function.Function {
	all := pureFunctions()
	maps.Copy(all, fileFunctions(r))
	all["templatefile"] = templateFunction(r, maps.Clone(all))
	return all
}

func pureFunctions() map[string]function.Function {
	all := plainFunctions()
	maps.Copy(all, collectionFunctions())
	maps.Copy(all, conversionFunctions())
	maps.Copy(all, ownFunctions())
	maps.Copy(all, textFunctions())
	maps.Copy(all, networkFunctions())
	return all
}

// plainFunctions compute with numbers, text and dates.
func plainFunctions() map[string]function.Function {
	return map[string]function.Function{
		"abs":        stdlib.AbsoluteFunc,
		"ceil":       stdlib.CeilFunc,
		"chomp":      stdlib.ChompFunc,
		"floor":      stdlib.FloorFunc,
		"format":     limitFormat(stdlib.FormatFunc),
		"formatdate": stdlib.FormatDateFunc,
		"formatlist": limitFormat(stdlib.FormatListFunc),
		"indent":     limitNumber(stdlib.IndentFunc, 0, 1000),
		"join":       checked(stdlib.JoinFunc),
		"log":        stdlib.LogFunc,
		"lower":      stdlib.LowerFunc,
		"max":        stdlib.MaxFunc,
		"min":        stdlib.MinFunc,
		"parseint":   stdlib.ParseIntFunc,
		"pow":        limitPow(stdlib.PowFunc),
		"regex":      stdlib.RegexFunc,
		"regexall":   stdlib.RegexAllFunc,
		"replace":    limitReplace(replaceFunction()),
		"signum":     stdlib.SignumFunc,
		"split":      stdlib.SplitFunc,
		"strrev":     stdlib.ReverseFunc,
		"substr":     stdlib.SubstrFunc,
		"timeadd":    stdlib.TimeAddFunc,
		"title":      stdlib.TitleFunc,
		"trim":       stdlib.TrimFunc,
		"trimprefix": stdlib.TrimPrefixFunc,
		"trimspace":  stdlib.TrimSpaceFunc,
		"trimsuffix": stdlib.TrimSuffixFunc,
		"upper":      stdlib.UpperFunc,
	}
}

// collectionFunctions compute with lists, sets and maps.
func collectionFunctions() map[string]function.Function {
	return map[string]function.Function{
		"chunklist":       stdlib.ChunklistFunc,
		"coalescelist":    stdlib.CoalesceListFunc,
		"compact":         stdlib.CompactFunc,
		"concat":          stdlib.ConcatFunc,
		"contains":        stdlib.ContainsFunc,
		"distinct":        stdlib.DistinctFunc,
		"element":         stdlib.ElementFunc,
		"flatten":         stdlib.FlattenFunc,
		"keys":            stdlib.KeysFunc,
		"lookup":          stdlib.LookupFunc,
		"merge":           stdlib.MergeFunc,
		"range":           stdlib.RangeFunc,
		"reverse":         stdlib.ReverseListFunc,
		"setintersection": stdlib.SetIntersectionFunc,
		"setproduct":      limitProduct(stdlib.SetProductFunc),
		"setsubtract":     stdlib.SetSubtractFunc,
		"setunion":        stdlib.SetUnionFunc,
		"slice":           stdlib.SliceFunc,
		"sort":            stdlib.SortFunc,
		"values":          stdlib.ValuesFunc,
		"zipmap":          stdlib.ZipmapFunc,
	}
}

// conversionFunctions convert between types and from and to text.
func conversionFunctions() map[string]function.Function {
	return map[string]function.Function{
		"can":        tryfunc.CanFunc,
		"csvdecode":  stdlib.CSVDecodeFunc,
		"jsondecode": limitJSON(stdlib.JSONDecodeFunc),
		"jsonencode": stdlib.JSONEncodeFunc,
		"tobool":     stdlib.MakeToFunc(cty.Bool),
		"tolist":     stdlib.MakeToFunc(cty.List(cty.DynamicPseudoType)),
		"tomap":      stdlib.MakeToFunc(cty.Map(cty.DynamicPseudoType)),
		"tonumber":   checked(stdlib.MakeToFunc(cty.Number)),
		"toset":      stdlib.MakeToFunc(cty.Set(cty.DynamicPseudoType)),
		"tostring":   stdlib.MakeToFunc(cty.String),
		"try":        tryfunc.TryFunc,
		"yamldecode": limitYAML(yaml.YAMLDecodeFunc),
		"yamlencode": yaml.YAMLEncodeFunc,
	}
}
