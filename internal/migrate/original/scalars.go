package original

import (
	"math/big"
	"regexp"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// kind is the type of a value in YAML.
type kind int

const (
	null kind = iota
	boolean
	integer
	float
	text
	list
	object
)

// forms are the forms of the plain values of YAML 1.1, which the original reads.
type forms struct{ nulls, yes, no, integers, floats, infinite, timestamps *regexp.Regexp }

// plain returns the forms, which are made when they are needed: most commands read no such file.
var plain = sync.OnceValue(func() forms {
	return forms{
		nulls:    regexp.MustCompile(`^(?:~|null|Null|NULL|)$`),
		yes:      regexp.MustCompile(`^(?:yes|Yes|YES|true|True|TRUE|on|On|ON)$`),
		no:       regexp.MustCompile(`^(?:no|No|NO|false|False|FALSE|off|Off|OFF)$`),
		integers: regexp.MustCompile(`^[-+]?(?:0b[0-1_]+|0[0-7_]+|0|[1-9][0-9_]*|0x[0-9a-fA-F_]+|[1-9][0-9_]*(?::[0-5]?[0-9])+)$`),
		floats: regexp.MustCompile(`^[-+]?(?:[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?|` +
			`[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*)$`),
		infinite: regexp.MustCompile(`^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$`),
		timestamps: regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}$|` +
			`^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}` +
			`(?:\.[0-9]*)?(?:[ \t]*(?:Z|[-+][0-9]{1,2}(?::[0-9]{2})?))?$`),
	}
})

// scalar returns the kind of a scalar and its value; of a number, in HCL. problem is the reason why it has none.
func scalar(n *yaml.Node) (k kind, value, problem string) {
	if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		if n.Style&yaml.TaggedStyle != 0 && n.Tag != "!!str" {
			return text, "", "the tag " + n.Tag + " has no counterpart"
		}
		return text, n.Value, ""
	}
	if n.Style&yaml.TaggedStyle != 0 {
		if n.Tag == "!!str" {
			return text, n.Value, ""
		}
		return text, "", "the tag " + n.Tag + " has no counterpart"
	}
	switch v, of := n.Value, plain(); {
	case of.nulls.MatchString(v):
		return null, "null", ""
	case of.yes.MatchString(v):
		return boolean, "true", ""
	case of.no.MatchString(v):
		return boolean, "false", ""
	case of.integers.MatchString(v):
		if number := whole(v); number != "" {
			return integer, number, ""
		}
		return integer, "", "this is not a number: put it in quotes"
	case of.floats.MatchString(v):
		if number := fraction(v); number != "" {
			return float, number, ""
		}
		return float, "", "this is not a number: put it in quotes"
	case of.infinite.MatchString(v):
		return float, "", "an infinite number, or none, cannot be written as JSON"
	case of.timestamps.MatchString(v):
		return text, "", "the original reads this as a date, which cannot be written as JSON: put it in quotes"
	}
	return text, n.Value, ""
}

// cut returns a number without its underscores and its sign.
func cut(v string) (number, sign string) {
	v = strings.TrimPrefix(strings.ReplaceAll(v, "_", ""), "+")
	if number, ok := strings.CutPrefix(v, "-"); ok {
		return number, "-"
	}
	return v, ""
}

// whole returns an integer in decimal digits; "" if it has none.
func whole(v string) string {
	v, sign := cut(v)
	n, ok := new(big.Int), true
	switch {
	case strings.Contains(v, ":"):
		for _, part := range strings.Split(v, ":") {
			digit, isNumber := new(big.Int).SetString(part, 10)
			if ok = ok && isNumber; ok {
				n.Add(n.Mul(n, big.NewInt(60)), digit)
			}
		}
	case strings.HasPrefix(v, "0b"):
		_, ok = n.SetString(v[2:], 2)
	case strings.HasPrefix(v, "0x"):
		_, ok = n.SetString(v[2:], 16)
	case len(v) > 1 && v[0] == '0':
		_, ok = n.SetString(v, 8)
	default:
		_, ok = n.SetString(v, 10)
	}
	if !ok {
		return ""
	}
	if n.Sign() == 0 {
		return "0"
	}
	return sign + n.String()
}

// fraction returns a float in decimal digits; "" if it has none.
func fraction(v string) string {
	v, sign := cut(v)
	if strings.Contains(v, ":") {
		return ""
	}
	if strings.HasPrefix(v, ".") {
		v = "0" + v
	}
	mantissa, exponent, _ := strings.Cut(strings.ToLower(v), "e")
	if strings.HasSuffix(mantissa, ".") {
		mantissa += "0"
	}
	mantissa = strings.TrimLeft(mantissa, "0")
	if strings.HasPrefix(mantissa, ".") {
		mantissa = "0" + mantissa
	}
	if exponent != "" {
		mantissa += "e" + exponent
	}
	return sign + mantissa
}
