package migrate

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deployster/config"
)

// run runs a migration of files, and checks that the manifests which it would write are valid where they are written.
func run(t *testing.T, o Options) Result {
	t.Helper()
	made, err := Run(o)
	if err != nil {
		t.Fatal(err)
	}
	out := o.Out
	if out == "" {
		out = o.Dir
	}
	if err := made.Write(out); err != nil {
		t.Fatal(err)
	}
	src, diags := config.Find(out, nil, nil)
	vars, more := config.FindVariables(out, "", nil, nil)
	if diags = append(diags, more...); !diags.HasErrors() {
		_, diags = config.Check(src, vars, config.Builtins{Version: "0.1.0"})
	}
	if diags.HasErrors() {
		t.Errorf("what was written is not valid: %v", diags)
	}
	return made
}

// Constructs that manifests do not have as Terraform has them are converted.
func TestRun_Converts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ config, want, note string }{
		"a list of anything":    {config: `variable "v" { type = list }`, want: `type = list(any)`},
		"a map of anything":     {config: `variable "v" { type = map }`, want: `type = map(any)`},
		"a type in quotes":      {config: `variable "v" { type = "string" }`, want: `type = string`},
		"a list in quotes":      {config: `variable "v" { type = "list" }`, want: `type = list(any)`},
		"an object":             {config: `variable "v" { type = object({ a = optional(list(string), []) }) }`, want: `object({ a = optional(list(string), []) })`},
		"what is not ephemeral": {config: "variable \"v\" {\n  default = 1\n  ephemeral = false\n}", want: "{\n  default = 1\n}"},
		"a dependency on a variable": {config: "variable \"v\" { default = 1 }\nresource \"aws_z\" \"z\" {\n  depends_on = [var.v]\n}",
			want: "\"${type.aws}#aws_z\"\n  config", note: "main.tf:3: depends_on has var.v, which is not made of any resource: it is left out"},
		"a dependency on a local value": {config: "locals {\n  a = local.b\n  b = { x = [aws_x.n.id, module.m.o] }\n}\nresource \"aws_z\" \"z\" {\n  depends_on = [local.a]\n}",
			want: `depends_on = [resource.n, module.m]`, note: "it waits for resource.n and module.m, of which the value is made"},
		"a dependency in quotes": {config: "resource \"aws_z\" \"z\" {\n  depends_on = [\"aws_x.n\", \"module.m\", aws_x.n]\n}",
			want: `depends_on = [resource.n, module.m]`},
		"a dependency on an output": {config: "resource \"aws_z\" \"z\" {\n  depends_on = [module.m.o]\n}", want: `depends_on = [module.m]`},
		"a dependency of an output": {config: "output \"a\" {\n  value = 1\n  depends_on = [aws_x.n, module.m]\n}", want: `depends_on = [resource.n, module.m]`},
		"a dependency of a module":  {config: "module \"z\" {\n  source = \"./m\"\n  depends_on = [\"aws_x.n\"]\n}", want: `depends_on = [resource.n]`},
		"what a module depends on by a value": {config: "module \"z\" {\n  source = \"./m\"\n  wait = [aws_x.n.id, module.m.o]\n  depends_on = [aws_x.k]\n}\nresource \"aws_x\" \"k\" {}",
			want: `depends_on = [resource.n, module.m, resource.k]`, note: `main.tf:3: the whole module waits for resource.n and module.m`},
		"what replaces it": {config: "resource \"aws_z\" \"z\" {\n  for_each = { a = 1 }\n  lifecycle { replace_triggered_by = [aws_x.n, aws_x.n.id, aws_z.k[each.key].id, aws_z.k[each.key]] }\n}\n" +
			"resource \"aws_z\" \"k\" { for_each = { a = 1 } }", want: "[resource.n, resource.n.state.id, resource.k[each.key].state.id, resource.k[each.key]]"},
		"changes ignored in quotes": {config: "resource \"aws_z\" \"z\" {\n  triggers = { a = 1 }\n  lifecycle { ignore_changes = [\"triggers\"] }\n}",
			want: `ignore_changes = [triggers]`},
		"changes ignored that cannot be": {config: "resource \"aws_z\" \"z\" {\n  lifecycle { ignore_changes = [a, \"b\"] }\n}",
			want: "config = {\n  }\n}", note: "ignore_changes names a, b, which the config does not have: left out"},
		"a name that begins with _":   {config: "variable \"_v\" { default = 1 }\noutput \"o\" { value = var._v }", want: "value = var.v\n", note: "-var v=VALUE or DEPLOYSTER_VAR_v"},
		"a name with an accent":       {config: "resource \"aws_z\" \"été\" {}\noutput \"o\" { value = aws_z.été.id }", want: `resource.ete.state.id`, note: `the resource "été" is called "ete" here`},
		"two names that become one":   {config: "variable \"_v\" { default = 1 }\nvariable \"v\" { default = 2 }\noutput \"o\" { value = [var._v, var.v] }", want: `[var.v_, var.v]`},
		"resources that become one":   {config: "resource \"aws_z\" \"_k\" {}\nresource \"aws_y\" \"k\" {}\noutput \"o\" { value = [aws_z._k.id, aws_y.k.id] }", want: `[resource.z_k.state.id, resource.y_k.state.id]`},
		"a module's name":             {config: "module \"_z\" {\n  source = \"./m\"\n}\noutput \"o\" { value = module._z.o }", want: `module.z.o`},
		"an output of a module":       {config: `output "o" { value = [module.m._i, module.each["a"]._i, module.each[var.k]._i] }` + "\nvariable \"k\" { default = \"a\" }", want: `[module.m.i, module.each["a"].i, module.each[var.k].i]`},
		"outputs of all modules":      {config: "module \"c\" {\n  source = \"./m\"\n  count = 1\n}\noutput \"o\" { value = module.c[*]._i }", want: `module.c[*].i`},
		"an argument of a module":     {config: "module \"z\" {\n  source = \"./m\"\n  _in = 2\n}", want: "in     = 2"},
		"a check's name":              {config: "check \"_c\" {\n  assert {\n    condition = 1 == 1\n    error_message = \"no\"\n  }\n}", want: `check "c" {`},
		"what a provider is not told": {config: "terraform {\n  provider_meta \"aws\" {\n    a = 1\n  }\n}", want: "resource \"n\"", note: "provider_meta is left out"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made := run(t, Options{Dir: directory(t, map[string]string{
				"main.tf": c.config + "\nresource \"aws_x\" \"n\" {}\nmodule \"m\" {\n  source = \"./m\"\n}\nmodule \"each\" {\n  source = \"./m\"\n  for_each = { a = 1 }\n}\n",
				"m/main.tf": "variable \"_in\" { default = 1 }\nvariable \"wait\" { default = [] }\noutput \"o\" { value = var._in }\noutput \"_i\" { value = 1 }\n" +
					"resource \"aws_x\" \"in\" { depends_on = [var.wait] }\n"})})
			if got := string(made.Files["main.hcl"]); !strings.Contains(got, c.want) {
				t.Errorf("got:\n%s\nwithout:\n%s", got, c.want)
			}
			if notes := strings.Join(made.Notes, "\n"); !strings.Contains(notes, c.note) {
				t.Errorf("the notes lack %q: %s", c.note, notes)
			}
		})
	}
}

// What would not be valid is refused, with its place in Terraform's files.
func TestRun_RefusesWhatIsNotValid(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"a reference to nothing": {map[string]string{"main.tf": "# text\n\noutput \"o\" {\n  # more\n  value = [\n    1,\n    local.gone,\n  ]\n}"},
			[]string{"main.tf:7: ", `"gone"`, "It would be written as: local.gone"}},
		"a dependency on nothing": {map[string]string{"main.tf": "\nresource \"aws_x\" \"n\" {\n  depends_on = [aws_x.gone]\n}"},
			[]string{"main.tf:3: depends_on has aws_x.gone"}},
		"a dependency that is no reference": {map[string]string{"main.tf": "resource \"aws_x\" \"n\" {\n  depends_on = [1]\n}"},
			[]string{"main.tf:2: 1 is not a reference"}},
		"an ignored key that is not there": {map[string]string{"main.tf": "resource \"aws_x\" \"n\" {\n  tags = {}\n  lifecycle {\n    ignore_changes = [tags[\"a\"]]\n  }\n}"},
			[]string{`main.tf:4: In the config, tags has no "a"`}},
		"in a module": {map[string]string{"main.tf": "module \"m\" {\n  source = \"./m\"\n}", "m/x.tf": "\n\noutput \"o\" { value = nothing(1) }"},
			[]string{"m/x.tf:3: "}},
		"in JSON": {map[string]string{"main.tf.json": "{\n  \"output\": {\n    \"o\": {\n      \"value\": \"${local.gone}\"\n    }\n  }\n}"},
			[]string{"main.tf.json:4: "}},
		"a manifest that is there": {map[string]string{"main.tf": "locals {}", "terragrunt.hcl": "\ninclude \"root\" {}"},
			[]string{"terragrunt.hcl:2: "}},
		"a file that is not there": {map[string]string{"main.tf": "output \"o\" { value = file(\"gone\") }"}, []string{`main.tf:1: `, `no file "gone"`}},
		"a value that does not fit": {map[string]string{"main.tf": "variable \"v\" { type = number }", "terraform.tfvars": "v = []"},
			[]string{`number`}},
		"a circle by a value of a module": {map[string]string{
			"main.tf": "module \"m\" {\n  source = \"./m\"\n  wait = aws_x.n.id\n}\nresource \"aws_x\" \"n\" { a = module.m.o }",
			"m/x.tf":  "variable \"wait\" {}\nresource \"aws_x\" \"a\" { depends_on = [var.wait] }\noutput \"o\" { value = 1 }\n"},
			[]string{"main.tf:"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made, err := Run(Options{Dir: directory(t, c.files)})
			if err == nil || made.Files != nil {
				t.Fatalf("error %v, files %v", err, slices.Sorted(maps.Keys(made.Files)))
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in: %s", want, err)
				}
			}
		})
	}
}

// New names reach the values of variables, the state, and its outputs.
func TestRun_RenamesValuesAndState(t *testing.T) {
	t.Parallel()
	dir := directory(t, map[string]string{
		"main.tf": "variable \"_a\" {}\nvariable \"_b\" {}\nvariable \"_c\" {}\nvariable \"_d\" {}\nmodule \"_m\" {\n  source = \"./m\"\n  a = [var._a, var._b, var._c, var._d]\n}\n" +
			"output \"_o\" { value = module._m.o }\nmoved {\n  from = module._m.aws_x._old\n  to = module._m.aws_x._n\n}\n",
		"m/x.tf":             "variable \"a\" {}\nresource \"aws_x\" \"_n\" { a = var.a }\noutput \"o\" { value = 1 }\n",
		"terraform.tfvars":   "# of a\n_a = 1\n",
		"x.auto.tfvars.json": `{"_b": 2}`,
		"terraform.tfstate": `{"version":4,"outputs":{"_o":{"value":1}},"resources":[{"module":"module._m","mode":"managed","type":"aws_x","name":"_n",
"instances":[{"attributes":{"id":"1"}}]}]}`,
	})
	made := run(t, Options{Dir: dir, Environ: []string{"TF_VAR__c=z", "DEPLOYSTER_VAR_c=a", "TF_VAR__d=4", "TF_VAR_other=1"}})
	if note := "the environment: TF_VAR_NAME is DEPLOYSTER_VAR_NAME here; set DEPLOYSTER_VAR_d"; !slices.Contains(made.Notes, note) {
		t.Errorf("the notes lack %q: %q", note, made.Notes)
	}
	entry := made.Snapshot.Resources["module.m.n"]
	if string(entry.Config) != `{"a":[1,2,"a","4"]}` {
		t.Errorf("recorded is %s in %v", entry.Config, made.Snapshot.Resources)
	}
	if string(made.Snapshot.Outputs["o"].Value) != "1" {
		t.Errorf("outputs: %v", made.Snapshot.Outputs)
	}
	if text := string(made.Files["vars.auto.hcl"]); text != "# of a\na = 1\n" {
		t.Errorf("values: %s", text)
	}
	if text := string(made.Files["main.hcl"]); !strings.Contains(text, "from = module.m.resource.old\n  to   = module.m.resource.n\n") {
		t.Errorf("moved: %s", text)
	}
}

// A file of values that Terraform reads later is stronger here too.
func TestRun_KeepsTheOrderOfValues(t *testing.T) {
	t.Parallel()
	for _, auto := range []string{"a", "z", "0"} {
		dir := directory(t, map[string]string{"main.tf": "variable \"v\" {}\nresource \"aws_x\" \"n\" { a = var.v }\n",
			"terraform.tfvars": "v = 1\n", "terraform.tfvars.json": `{"v": 2}`, auto + ".auto.tfvars": "v = 3\n",
			"terraform.tfstate": `{"version":4,"resources":[{"mode":"managed","type":"aws_x","name":"n","instances":[{"attributes":{"id":"1"}}]}]}`})
		made := run(t, Options{Dir: dir})
		if got := string(made.Snapshot.Resources["n"].Config); got != `{"a":3}` {
			t.Errorf("%s.auto.tfvars: recorded is %s, and files %v", auto, got, slices.Sorted(maps.Keys(made.Files)))
		}
	}
}

// The same note for several places is one note.
func TestRun_GroupsNotes(t *testing.T) {
	t.Parallel()
	files := map[string]string{"main.tf": ""}
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		files["main.tf"] += "module \"" + name + "\" {\n  source = \"./" + name + "\"\n}\n"
		files[name+"/x.tf"] = "terraform {\n  provider_meta \"aws\" {}\n}\nresource \"aws_x\" \"n\" {}\n"
	}
	made := run(t, Options{Dir: directory(t, files)})
	notes := slices.DeleteFunc(slices.Clone(made.Notes), func(n string) bool { return strings.HasPrefix(n, "the state:") })
	if want := "a/x.tf:2, b/x.tf:2, c/x.tf:2 and 2 more: provider_meta is left out"; len(notes) != 1 || !strings.HasPrefix(notes[0], want) {
		t.Errorf("the notes are %q, want %q", notes, want)
	}
}

// Manifests in another directory have the files that they read, and those of modules from elsewhere that expressions name.
func TestRun_CopiesFiles(t *testing.T) {
	t.Parallel()
	dir := directory(t, map[string]string{
		"main.tf": "output \"o\" { value = file(\"${path.module}/t/a.txt\") }\nlocals {\n  n = \"s/x\"\n  u = [for f in fileset(path.module, \"s/*.json\") : f]\n}\n" +
			"module \"m\" { source = \"example/m/aws\" }\nresource \"aws_x\" \"n\" { a = templatefile(\"k.tpl\", { a = aws_x.o.id }) }\nresource \"aws_x\" \"o\" {}\n",
		"t/a.txt": "a", "t/b.txt": "b", "s/1.json": "{}", "k.tpl": "${a}", "other": "", "terraform.tfstate.backup": "{}",
		".terraform/modules/modules.json":      `{"Modules":[{"Key":"m","Dir":".terraform/modules/m"}]}`,
		".terraform/modules/m/main.tf":         "output \"o\" { value = templatefile(\"${path.module}/templates/x.tpl\", {}) }\n",
		".terraform/modules/m/templates/x.tpl": "text", ".terraform/modules/m/examples/a/main.tf": "locals {}", ".terraform/modules/m/test/x": "x",
	})
	out := t.TempDir()
	made := run(t, Options{Dir: dir, Out: out})
	for name, want := range map[string]bool{"t/a.txt": true, "t/b.txt": true, "s/1.json": true, "k.tpl": true, "other": false, "terraform.tfstate.backup": false,
		"modules/m/templates/x.tpl": true, "modules/m/test/x": false, "modules/m/examples/a/main.tf": false} {
		if _, err := os.Stat(filepath.Join(out, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if notes := strings.Join(made.Notes, "\n"); strings.Count(notes, "main.tf:6: ") != 1 || !strings.Contains(notes, "no expression there names them: examples, test") {
		t.Errorf("notes: %s", notes)
	}
}

// Terraform's state has no outputs that are null: they are recorded, so that the first plan shows none as new.
func TestRun_RecordsNullOutputs(t *testing.T) {
	t.Parallel()
	made := run(t, Options{Dir: directory(t, map[string]string{
		"main.tf":           "output \"none\" { value = null }\noutput \"new\" { value = 1 }\noutput \"of\" { value = aws_x.n.gone }\nresource \"aws_x\" \"n\" {}\n",
		"terraform.tfstate": `{"version":4,"resources":[{"mode":"managed","type":"aws_x","name":"n","instances":[{"attributes":{"id":"1","gone":null}}]}]}`})})
	if got := slices.Sorted(maps.Keys(made.Snapshot.Outputs)); !slices.Equal(got, []string{"none", "of"}) || string(made.Snapshot.Outputs["of"].Value) != "null" {
		t.Errorf("recorded are %v", made.Snapshot.Outputs)
	}
}

// Providers that get paths are packed with a plug for the directory of the project, at which they start; those that
// start programs, with these.
func TestRun_PacksWhatProvidersNeed(t *testing.T) {
	t.Parallel()
	locked := ""
	for _, name := range []string{"local", "archive", "external", "aws", "null", "http"} {
		locked += "provider \"registry.terraform.io/hashicorp/" + name + "\" {\n  version = \"1.0.0\"\n}\n"
	}
	made := run(t, Options{Dir: directory(t, map[string]string{
		".terraform.lock.hcl": locked,
		"main.tf": `
locals { zip = "${path.module}/f.zip" }
resource "local_file" "f" {
  filename = "f.txt"
  content  = "c"
}
data "archive_file" "a" {
  type        = "zip"
  source_file = "/etc/hosts"
  output_path = "${path.module}/a.zip"
}
data "external" "sh" { program = ["sh", "-c", "true"] }
data "external" "py" { program = ["${path.module}/x.py"] }
data "external" "jq" { program = ["jq", "-n", "{}"] }
resource "aws_lambda_function" "l" { filename = local.zip }
resource "null_resource" "n" { triggers = { a = file("${path.module}/x.py") } }
data "http" "h" { ca = "~/ca.pem" }
`,
		"x.py": "#!/usr/bin/env python3\n"})})
	packs := strings.Join(made.Packs, "\n") + "\n"
	for name, flags := range map[string]string{
		"local": " -plug files=/work:rw -workdir /work", "archive": " -plug files=/work:rw -workdir /work",
		"external": " -plug files=/work -workdir /work -program $(command -v jq) -python -shell", "aws": " -plug files=/work -workdir /work", "null": "", "http": "",
	} {
		want := "hashicorp/" + name + "/1.0.0/linux_amd64" + flags + " -t tf/" + name + ":1.0.0\n"
		if !strings.Contains(packs, want) {
			t.Errorf("%s is not packed with %q: %s", name, flags, packs)
		}
	}
	want := "plug \"files\" {\n  path           = \".\"\n  resource_types = [\"tf/archive:.*\", \"tf/aws:.*\", \"tf/external:.*\", \"tf/local:.*\"]\n}"
	if got := string(made.Files["types.hcl"]); !strings.Contains(got, want) {
		t.Errorf("the plug is not declared: %s", got)
	}
	notes := strings.Join(made.Notes, "\n")
	for _, want := range []string{"main.tf:9: source_file may be a path outside", "main.tf:17: ca may be a path outside of the project, which the image of http",
		"main.tf:12, main.tf:13, main.tf:14: the program runs in the image of external"} {
		if !strings.Contains(notes, want) {
			t.Errorf("the notes lack %q: %s", want, notes)
		}
	}
}
