package clusters

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"deployster/internal/base/words"
	"deployster/internal/runtime/runner"
)

// tolerationKeys are the attributes of a toleration, as a Pod has them, with underscores.
var tolerationKeys = []string{"effect", "key", "operator", "toleration_seconds", "value"}

// Tolerations decodes a list of tolerations. Each is an object that may leave out attributes.
func Tolerations(list cty.Value) ([]runner.Toleration, error) {
	if !list.CanIterateElements() || list.Type().IsObjectType() || list.Type().IsMapType() {
		return nil, errors.New("it is a list of objects: [{ key = \"ops\", operator = \"Exists\", effect = \"NoSchedule\" }]")
	}
	var found []runner.Toleration
	for it := list.ElementIterator(); it.Next(); {
		_, v := it.Element()
		t, err := toleration(v)
		if err != nil {
			return nil, err
		}
		found = append(found, t)
	}
	return found, nil
}

func toleration(v cty.Value) (t runner.Toleration, err error) {
	if v.IsNull() || !v.Type().IsObjectType() && !v.Type().IsMapType() {
		return t, errors.New("an element is not an object: write { key = \"ops\", operator = \"Exists\", effect = \"NoSchedule\" }")
	}
	into := map[string]*string{"key": &t.Key, "operator": &t.Operator, "value": &t.Value, "effect": &t.Effect}
	for it := v.ElementIterator(); it.Next(); { // in the order of the names
		key, value := it.Element()
		name := key.AsString()
		switch {
		case !slices.Contains(tolerationKeys, name):
			return t, fmt.Errorf("a toleration has no attribute %q.%s It has %s", name, words.DidYouMean(name, tolerationKeys),
				strings.Join(tolerationKeys, ", "))
		case value.IsNull():
			continue
		case name == "toleration_seconds":
			n, err := convert.Convert(value, cty.Number)
			if err != nil {
				return t, errors.New("toleration_seconds is not a number")
			}
			seconds, acc := n.AsBigFloat().Int64()
			if acc != big.Exact || seconds < 0 {
				return t, errors.New("toleration_seconds is not a whole number of seconds")
			}
			t.Seconds = &seconds
		default:
			text, err := convert.Convert(value, cty.String)
			if err != nil {
				return t, fmt.Errorf("%s of a toleration is not text", name)
			}
			*into[name] = text.AsString()
		}
	}
	return t, checkToleration(t)
}

// checkToleration returns an error for what an API server would refuse.
func checkToleration(t runner.Toleration) error {
	if t.Key != "" {
		if err := Key(t.Key); err != nil {
			return err
		}
	}
	switch {
	case !slices.Contains([]string{"", "Equal", "Exists"}, t.Operator):
		return fmt.Errorf("%q is not an operator of a toleration: it is \"Exists\" or \"Equal\"", t.Operator)
	case !slices.Contains([]string{"", "NoSchedule", "PreferNoSchedule", "NoExecute"}, t.Effect):
		return fmt.Errorf("%q is not an effect of a taint: it is \"NoSchedule\", \"PreferNoSchedule\" or \"NoExecute\"", t.Effect)
	case t.Operator == "Exists" && t.Value != "":
		return errors.New("a toleration with the operator Exists has no value")
	case t.Key == "" && t.Operator != "Exists":
		return errors.New("a toleration without key tolerates every taint, and has the operator Exists")
	case t.Seconds != nil && t.Effect != "NoExecute":
		return errors.New("toleration_seconds is for the effect NoExecute alone")
	}
	return nil
}
