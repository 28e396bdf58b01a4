package limits

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"github.com/zclconf/go-cty/cty"
)

// binaryExponent limits computed numbers, in powers of two: larger ones take minutes
// to write out.
const binaryExponent = 16384

// CheckValue returns an error for a value that would take all the memory or time of
// the machine in its next use.
func CheckValue(v cty.Value) error {
	_, err := CheckParts(v)
	return err
}

// CheckParts is CheckValue that also returns the path of the part that is too large.
func CheckParts(v cty.Value) (at []string, err error) {
	c := valueCheck{}
	err = c.visit(v, 0)
	slices.Reverse(c.at)
	return c.at, err
}

type valueCheck struct {
	text, elements int
	at             []string // from the inside out, once a check failed
}

func (c *valueCheck) visit(v cty.Value, depth int) error {
	v, _ = v.Unmark()
	if c.elements++; c.elements > Elements {
		return fmt.Errorf("it has more than %d elements", Elements)
	}
	if depth > Depth {
		return fmt.Errorf("it is nested deeper than %d levels", Depth)
	}
	if !v.IsKnown() || v.IsNull() {
		return nil
	}
	switch {
	case v.Type() == cty.String:
		if c.text += len(v.AsString()); c.text > Text {
			return fmt.Errorf("it has more than %d bytes of text", Text)
		}
	case v.Type() == cty.Number:
		return CheckNumber(v.AsBigFloat())
	case v.Type().IsObjectType():
		types := v.Type().AttributeTypes()
		names := make([]string, 0, len(types))
		for name := range types {
			names = append(names, name)
		}
		slices.Sort(names) // the first part that is too large is always the same
		for _, name := range names {
			if err := c.visit(v.GetAttr(name), depth+1); err != nil {
				c.at = append(c.at, name)
				return err
			}
		}
	case v.CanIterateElements():
		i := 0
		for it := v.ElementIterator(); it.Next(); i++ {
			key, child := it.Element()
			if err := c.visit(child, depth+1); err != nil {
				c.at = append(c.at, ElementKey(v.Type(), key, i))
				return err
			}
		}
	}
	return nil
}

// CheckNumber returns an error for a number that cannot be written out.
func CheckNumber(n *big.Float) error {
	if n.IsInf() {
		return fmt.Errorf("it has an infinite number, such as a division by zero gives")
	}
	if exp := n.MantExp(nil); exp > binaryExponent || exp < -binaryExponent {
		return fmt.Errorf("it has a number that is too large or too small to be written")
	}
	return nil
}

// TextSize returns how many bytes of text a value that passed CheckValue has.
func TextSize(v cty.Value) int {
	v, _ = v.Unmark()
	switch {
	case !v.IsKnown() || v.IsNull():
		return 0
	case v.Type() == cty.String:
		return len(v.AsString())
	case v.CanIterateElements():
		n := 0
		for it := v.ElementIterator(); it.Next(); {
			_, child := it.Element()
			n += TextSize(child)
		}
		return n
	}
	return 0
}

// ElementKey returns an element's token in a JSON pointer.
func ElementKey(container cty.Type, key cty.Value, i int) string {
	if container.IsObjectType() || container.IsMapType() {
		key, _ = key.Unmark()
		return key.AsString()
	}
	return strconv.Itoa(i)
}
