package config

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash"
	"net"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/apparentlymart/go-cidr/cidr"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// digest is a hash function under its Terraform name.
type digest struct {
	name string
	new  func() hash.Hash
}

func digests() []digest {
	return []digest{{"md5", md5.New}, {"sha1", sha1.New}, {"sha256", sha256.New}, {"sha512", sha512.New}}
}

func (d digest) sum(data []byte) []byte {
	h := d.new()
	h.Write(data)
	return h.Sum(nil)
}

// onText makes a function from text to text.
func onText(f func(string) (string, error)) function.Function { return onTextAs("text", f) }

func onTextAs(name string, f func(string) (string, error)) function.Function {
	return define(cty.String, []function.Parameter{param(name, cty.String)}, func(args []cty.Value) (cty.Value, error) {
		s, err := f(args[0].AsString())
		if err != nil {
			return cty.NilVal, function.NewArgError(0, err)
		}
		return cty.StringVal(s), nil
	})
}

// onTexts makes a question about two texts.
func onTexts(second string, f func(a, b string) bool) function.Function {
	return define(cty.Bool, []function.Parameter{param("text", cty.String), param(second, cty.String)}, func(args []cty.Value) (cty.Value, error) {
		return cty.BoolVal(f(args[0].AsString(), args[1].AsString())), nil
	})
}

// textFunctions encode, hash and compare text.
func textFunctions() map[string]function.Function {
	all := map[string]function.Function{
		"base64decode": onText(decodeBase64),
		"base64encode": onText(func(s string) (string, error) { return base64.StdEncoding.EncodeToString([]byte(s)), nil }),
		"endswith":     onTexts("suffix", strings.HasSuffix),
		"startswith":   onTexts("prefix", strings.HasPrefix),
		"strcontains":  onTexts("substring", strings.Contains),
		"urlencode":    onText(func(s string) (string, error) { return url.QueryEscape(s), nil }),
	}
	for _, d := range digests() {
		all[d.name] = onText(func(s string) (string, error) { return hex.EncodeToString(d.sum([]byte(s))), nil })
	}
	for _, d := range digests()[2:] {
		all["base64"+d.name] = onText(func(s string) (string, error) { return base64.StdEncoding.EncodeToString(d.sum([]byte(s))), nil })
	}
	return all
}

func decodeBase64(s string) (string, error) {
	data, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return "", fmt.Errorf("it is not base64")
	}
	if !utf8.Valid(data) {
		return "", fmt.Errorf("what it decodes to is not text in UTF-8")
	}
	return string(data), nil
}

// networkFunctions compute with IP address ranges.
func networkFunctions() map[string]function.Function {
	prefix := param("prefix", cty.String)
	return map[string]function.Function{
		"cidrhost": define(cty.String, []function.Parameter{prefix, param("number", cty.Number)}, func(args []cty.Value) (cty.Value, error) {
			n, err := network(args[0])
			if err != nil {
				return cty.NilVal, err
			}
			number, _ := args[1].AsBigFloat().Int(nil)
			ip, err := cidr.HostBig(n, number)
			if err != nil {
				return cty.NilVal, err
			}
			return cty.StringVal(ip.String()), nil
		}),
		"cidrnetmask": define(cty.String, []function.Parameter{prefix}, func(args []cty.Value) (cty.Value, error) {
			n, err := network(args[0])
			if err != nil {
				return cty.NilVal, err
			}
			if n.IP.To4() == nil {
				return cty.NilVal, function.NewArgErrorf(0, "only IPv4 has netmasks")
			}
			return cty.StringVal(net.IP(n.Mask).String()), nil
		}),
		"cidrsubnet":  define(cty.String, []function.Parameter{prefix, param("newbits", cty.Number), param("netnum", cty.Number)}, subnet),
		"cidrsubnets": subnetsFunction(prefix),
	}
}

func network(v cty.Value) (*net.IPNet, error) {
	_, n, err := net.ParseCIDR(v.AsString())
	if err != nil {
		return nil, function.NewArgErrorf(0, "it is not an address range such as \"10.0.0.0/16\"")
	}
	return n, nil
}

func subnet(args []cty.Value) (cty.Value, error) {
	n, err := network(args[0])
	if err != nil {
		return cty.NilVal, err
	}
	bits, err := wholeNumber(args[1], 0, 128)
	if err != nil {
		return cty.NilVal, function.NewArgError(1, err)
	}
	number, _ := args[2].AsBigFloat().Int(nil)
	out, err := cidr.SubnetBig(n, int(bits), number)
	if err != nil {
		return cty.NilVal, err
	}
	return cty.StringVal(out.String()), nil
}

func subnetsFunction(prefix function.Parameter) function.Function {
	more := param("newbits", cty.Number)
	return function.New(&function.Spec{
		Params:   []function.Parameter{prefix},
		VarParam: &more,
		Type:     function.StaticReturnType(cty.List(cty.String)),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			n, err := network(args[0])
			if err != nil {
				return cty.NilVal, err
			}
			if len(args) == 1 {
				return cty.ListValEmpty(cty.String), nil
			}
			own, size := n.Mask.Size()
			var out []cty.Value
			var last *net.IPNet
			for i, a := range args[1:] {
				bits, err := wholeNumber(a, 1, int64(size-own))
				if err != nil {
					return cty.NilVal, function.NewArgError(i+1, err)
				}
				length := own + int(bits)
				next, tooFar := n, false
				if last == nil {
					next, err = cidr.Subnet(n, int(bits), 0)
				} else {
					next, tooFar = cidr.NextSubnet(last, length)
				}
				if err != nil || tooFar || !n.Contains(next.IP) {
					return cty.NilVal, function.NewArgErrorf(i+1, "there is no room left in %s for it", n)
				}
				last = next
				out = append(out, cty.StringVal(next.String()))
			}
			return cty.ListVal(out), nil
		},
	})
}
