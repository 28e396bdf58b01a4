package funcs

import (
	"fmt"
	"math/big"
	"net"

	"github.com/apparentlymart/go-cidr/cidr"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// networkFunctions compute with IP address ranges.
func networkFunctions() map[string]function.Function {
	prefix := param("prefix", cty.String)
	return map[string]function.Function{
		"cidrhost": define(cty.String, []function.Parameter{prefix, param("number", cty.Number)},
			func(args []cty.Value) (cty.Value, error) {
				n, err := network(args[0])
				if err != nil {
					return cty.NilVal, err
				}
				number, exact := args[1].AsBigFloat().Int(nil)
				if exact != big.Exact {
					return cty.NilVal, function.NewArgErrorf(1, "it must be a whole number")
				}
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
	number, exact := args[2].AsBigFloat().Int(nil)
	if exact != big.Exact {
		return cty.NilVal, function.NewArgErrorf(2, "it must be a whole number")
	}
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

// wholeNumber converts a number argument to a whole number between two limits.
func wholeNumber(v cty.Value, low, high int64) (int64, error) {
	n, acc := v.AsBigFloat().Int64()
	if acc != big.Exact || n < low || n > high {
		return 0, fmt.Errorf("it must be a whole number from %d to %d", low, high)
	}
	return n, nil
}
