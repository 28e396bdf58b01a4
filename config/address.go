package config

import (
	"strings"
	"unicode"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"deployster/config/addresses"
	"deployster/internal/base/diag"
)

// ParseAddress parses the address of a resource, an instance or a module, as plans
// print it or as manifests refer to it: web, web["a"], resource.web[0], module.net,
// module.net.web. It returns the address as plans print it. A suffix may select a
// deposed object of the address: web[0] (deposed 1).
func ParseAddress(text string) (string, error) {
	address, _, err := parseAddress(text)
	return address, err
}

// ParseAddresses is ParseAddress for a list.
func ParseAddresses(texts []string) ([]string, error) {
	var list []string
	for _, text := range texts {
		address, err := ParseAddress(text)
		if err != nil {
			return nil, err
		}
		list = append(list, address)
	}
	return list, nil
}

// ParseMove parses the two addresses of a move. A resource moves to a resource, and a
// module to a module.
func ParseMove(from, to string) (Moved, error) {
	var m Moved
	var fromModule, toModule bool
	var err error
	if m.From, fromModule, err = parseAddress(from); err != nil {
		return Moved{}, err
	}
	if m.To, toModule, err = parseAddress(to); err != nil {
		return Moved{}, err
	}
	switch {
	case fromModule != toModule:
		return Moved{}, diag.Errorf("Addresses of different kinds",
			"%s cannot become %s: a resource is moved to a resource, a module to a module.", m.From, m.To)
	case m.From == m.To:
		return Moved{}, diag.Errorf("Moved to itself", "%s and %s are the same address.", diag.Visible(from), diag.Visible(to))
	}
	return m, nil
}

func parseAddress(text string) (address string, module bool, err error) {
	full, deposed := strings.TrimSpace(text), ""
	if number, closed := strings.CutSuffix(full, ")"); closed {
		rest := strings.TrimRight(number, "0123456789")
		if at, marked := strings.CutSuffix(rest, " (deposed "); marked && len(rest) < len(number) {
			full, deposed = at, full[len(at):]
		}
	}
	if strings.HasPrefix(full, addresses.ExclusivePrefix) {
		if address := addresses.ParseExclusive(full); address != "" {
			return address + deposed, false, nil
		}
	}
	if strings.HasPrefix(full, "artifact.") {
		return "", false, diag.Errorf("Not an address", "%q is an artifact, to which nothing is done. Name the resource or the publish "+
			"that uses it.", text)
	}
	if !strings.HasPrefix(full, addresses.PublishPrefix) && !strings.HasPrefix(full, "resource.") && !strings.HasPrefix(full, "module.") {
		full = "resource." + full
	}
	t, diags := hclsyntax.ParseTraversalAbs([]byte(full), "", hcl.InitialPos)
	problem := ""
	if !diags.HasErrors() {
		address, module, problem = addresses.Of(t)
	}
	if diags.HasErrors() || problem != "" || strings.ContainsFunc(text, unicode.IsControl) {
		return "", false, diag.Errorf("Not an address", "%q is not an address, which is NAME, NAME[\"KEY\"], NAME[0], module.NAME, "+
			"module.NAME.NAME or publish.NAME, as plans print it; resource.NAME is the same as NAME.", text)
	}
	return address + deposed, module, nil
}
