package tffiles

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// IsOwn reports whether a file is one of Terraform's own: its configuration, its values of variables, its state.
func IsOwn(name string) bool {
	return slices.Contains([]string{".tf", ".tfvars", ".tfstate", ".backup"}, filepath.Ext(strings.TrimSuffix(name, ".json")))
}

// ValueFiles returns the files of values that Terraform reads by itself, by the names with which deployster does so in
// the same order; and those that it reads only where they are named.
func ValueFiles(names []string) (automatic map[string]string, named []string) {
	automatic = map[string]string{}
	for _, name := range names {
		base, isJSON := strings.CutSuffix(name, ".json")
		base, is := strings.CutSuffix(base, ".tfvars")
		if !is || base == "terraform" {
			continue
		}
		if auto, isAuto := strings.CutSuffix(base, ".auto"); isAuto {
			automatic["vars."+auto+".auto"+ending(isJSON)] = name
		} else {
			named = append(named, name)
		}
	}
	// The files are read in the order of their names, and that of terraform comes first.
	first := "vars"
	for _, candidate := range []string{"vars.0", "vars.-"} {
		if slices.ContainsFunc(slices.Collect(maps.Keys(automatic)), func(name string) bool { return name < first+".auto.json" }) {
			first = candidate
		}
	}
	for _, name := range []string{"terraform.tfvars", "terraform.tfvars.json"} {
		if slices.Contains(names, name) {
			automatic[first+".auto"+ending(strings.HasSuffix(name, ".json"))] = name
		}
	}
	return automatic, named
}

func ending(isJSON bool) string {
	if isJSON {
		return ".json"
	}
	return ".hcl"
}
