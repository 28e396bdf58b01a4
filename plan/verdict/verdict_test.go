package verdict

import (
	"strings"
	"testing"

	"deployster/config"
	"deployster/state/actions"
)

var failed = []Result{{Severity: Error, Message: "no", Address: "a"}}

// A mandatory policy denies whatever a file says about it.
func TestInvalid_MandatoryOverridden(t *testing.T) {
	t.Parallel()
	over := &actions.Override{Policy: "p", Reason: "x"}
	p := Policy{Name: "p", Level: config.Mandatory, Results: failed, Override: over}
	if !p.Decided().Denies || Refuse([]Policy{p}) == nil {
		t.Error("it is overridden")
	}
	for what, p := range map[string]Policy{
		"mandatory, overridden":  p.Decided(),
		"a level":                {Name: "p", Level: "strict"},
		"a verdict":              {Name: "p", Level: config.Overridable, Results: failed},
		"an override, no reason": {Name: "p", Level: config.Overridable, Results: failed, Override: &actions.Override{Policy: "p"}},
		"a name":                 {Name: "p\x1b", Level: config.Advisory},
	} {
		if Invalid([]Policy{p}) == "" {
			t.Errorf("%s is valid: %+v", what, p)
		}
	}
	good := Policy{Name: "p", Level: config.Overridable, Results: failed, Override: over}
	if why := Invalid([]Policy{good.Decided()}); why != "" {
		t.Error(why)
	}
}

// Only errors of policies that are not advisory deny, and the message names the way out that there is.
func TestRefuse_NamesTheWayOut(t *testing.T) {
	t.Parallel()
	warned := []Result{{Severity: Warning, Message: "hm"}}
	for _, c := range []struct {
		level   config.PolicyLevel
		results []Result
		want    string // "" = allowed
	}{
		{config.Advisory, failed, ""}, {config.Mandatory, warned, ""}, {config.Overridable, failed, "-override=p -reason=TEXT"},
		{config.Mandatory, failed, "cannot be overridden"},
	} {
		err := Refuse([]Policy{{Name: "p", Level: c.level, Results: c.results}})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.level, err)
		}
	}
}
