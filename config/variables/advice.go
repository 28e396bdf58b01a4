package variables

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/source"
	"deployster/internal/base/words"
)

// misplaced returns an error for a value of a constant that comes from elsewhere than a file or -var.
func (s *Spec) misplaced(in source.VarInput) *hcl.Diagnostic {
	if !s.Const || !in.Quiet {
		return nil
	}
	return source.Failure(s.At, "A constant from the environment", "The variable %q has const = true, so its value comes from its "+
		"default, a file or -var, and not from %s. Give it with -var '%s=VALUE', or write it into vars.auto.hcl.", s.Name, in.Origin,
		s.Name)
}

// bracketed returns a warning if the value of a variable without type reads like a list or an object: it is text.
func (s *Spec) bracketed(in source.VarInput) hcl.Diagnostics {
	text := strings.TrimSpace(in.Text)
	if s.Typed || in.Value != cty.NilVal || s.Sensitive || !strings.HasPrefix(text, "[") && !strings.HasPrefix(text, "{") {
		return nil
	}
	return hcl.Diagnostics{{Severity: hcl.DiagWarning, Summary: "The value of a variable is text", Subject: s.At.Ptr(),
		Detail: fmt.Sprintf("The variable %q has no type, so the value from %s is text, though it has the form of a list or an object. "+
			"Declare its type, such as list(string).", s.Name, in.Origin)}}
}

// deprecated returns the warning about the value of a deprecated variable; nil = there is none.
func (s *Spec) deprecated(in source.VarInput) hcl.Diagnostics {
	if s.Deprecated == "" || in.Pinned {
		return nil
	}
	at := s.At
	if in.Src != nil && !s.Sensitive {
		at = in.At
	}
	return hcl.Diagnostics{Deprecation(s.Deprecated, s.At, at, "The variable \""+s.Name+"\", which gets a value from "+in.Origin+",")}
}

// Deprecation returns the warning about a use of a deprecated variable or output: what to use
// in its place, where it is declared and where it is used.
func Deprecation(advice string, declared, used hcl.Range, what string) *hcl.Diagnostic {
	if !strings.HasSuffix(advice, ".") && !strings.HasSuffix(advice, "!") {
		advice += "."
	}
	d := source.Failure(used, "Deprecated", "%s is deprecated (%s:%d): %s", what, declared.Filename, declared.Start.Line, advice)
	d.Severity = hcl.DiagWarning
	return d
}

func (v *Values) undeclared(in source.VarInput) hcl.Diagnostics {
	if in.Quiet || in.Pinned {
		return nil
	}
	d := &hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: "Undeclared variable",
		Detail: fmt.Sprintf("A value for the variable %q is given by %s, but no manifest declares it.%s Declare it with a variable block, "+
			"or remove the value.", in.Name, in.Origin, words.DidYouMean(in.Name, v.names()))}
	if in.Strict {
		d.Severity = hcl.DiagError
	}
	if in.Src != nil {
		d.Subject = in.At.Ptr()
	}
	return hcl.Diagnostics{d}
}
