package migrate

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

const lock = `
provider "registry.terraform.io/hashicorp/aws" {
  version = "5.31.0"
}
`

// directory writes files below a new directory, by their paths.
func directory(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	if _, has := files[".terraform.lock.hcl"]; !has {
		files[".terraform.lock.hcl"] = lock
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestRun_Writes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ config, want string }{
		"a reference":                {`output "a" { value = aws_x.n.id }`, `value = resource.n.state.id`},
		"in a text":                  {`output "a" { value = "${aws_x.n.id}-${data.aws_y.n.id}" }`, `"${resource.x_n.state.id}-${resource.data_y_n.state.id}"`},
		"the whole":                  {`output "a" { value = aws_x.n }`, `value = resource.n.state`},
		"an instance":                {`output "a" { value = aws_x.many[0].id }`, `resource.many[0].state.id`},
		"an instance that is chosen": {`output "a" { value = [for i in [0] : aws_x.many[i].id] }`, `[for i in [0] : resource.many[i].state.id]`},
		"all instances":              {`output "a" { value = aws_x.many[*].id }`, `resource.many[*].state.id`},
		"all of old":                 {`output "a" { value = aws_x.many.*.id }`, `resource.many.*.state.id`},
		"the list":                   {`output "a" { value = aws_x.many }`, `resource.many[*].state`},
		"the map":                    {`output "a" { value = values(aws_x.keyed) }`, `values({ for k, r in resource.keyed : k => r.state })`},
		"a key":                      {`output "a" { value = aws_x.keyed["a"].b["c"] }`, `resource.keyed["a"].state.b["c"]`},
		"what is no reference":       {`output "a" { value = { aws_x = 1, "aws_x.n.id" = "aws_x.n.id" } }`, `{ aws_x = 1, "aws_x.n.id" = "aws_x.n.id" }`},
		"a dependency":               {`resource "aws_z" "z" { depends_on = [aws_x.n, aws_x.many[0]] }`, `depends_on = [resource.n, resource.many[0]]`},
		"the place of a module":      {`output "a" { value = "${path.module}/f" }`, `value = "./f"`},
		"a place that is computed":   {`output "a" { value = join("/", [path.root]) }`, `join("/", ["."])`},
		"a workspace":                {`output "a" { value = terraform.workspace }`, `value = var.terraform_workspace`},
		"one block":                  {"resource \"aws_z\" \"z\" {\n  disk {\n    size = 1 # GB\n  }\n}", "    disk = {\n      size = 1 # GB\n    }"},
		"two blocks": {"resource \"aws_z\" \"z\" {\n  # first\n  disk {\n    size = 1\n  }\n  name = \"n\"\n  disk {\n    size = 2\n  }\n}",
			"    # first\n    disk = [\n      {\n        size = 1\n      },\n      {\n        size = 2\n      },\n    ]\n    name = \"n\""},
		"a dynamic block": {"resource \"aws_z\" \"z\" {\n  dynamic \"disk\" {\n    for_each = [1]\n    content {\n      size = disk.value\n      at = disk.key\n    }\n  }\n}",
			"    disk = [for disk_key, disk_value in [1] : {\n      size = disk_value\n      at   = disk_key\n    }]"},
		"a dynamic block within one": {"resource \"aws_z\" \"z\" {\n  dynamic \"a\" {\n    for_each = [[1]]\n    iterator = i\n    content {\n      dynamic \"b\" {\n        " +
			"for_each = i.value\n        content { c = \"${i.key}${b.value}\" }\n      }\n    }\n  }\n}", `b = [for b_key, b_value in i_value : {`},
		"blocks of both sorts": {"resource \"aws_z\" \"z\" {\n  d { s = 1 }\n  dynamic \"d\" {\n    for_each = []\n    content {}\n  }\n}", "d = concat(["},
		"ignored blocks are lists": {"resource \"aws_z\" \"z\" {\n  disk { size = 1 }\n  lifecycle { ignore_changes = [disk[0].size] }\n}",
			"ignore_changes = [disk[0].size]"},
		"made first, and nobody needs it": {"resource \"aws_z\" \"z\" {\n  lifecycle { create_before_destroy = true }\n}\noutput \"o\" { value = aws_z.z.id }",
			"resource \"z\" {\n  type = \"${type.aws}#aws_z\"\n  config = {\n  }\n}"},
		"a data source": {`data "aws_q" "q" { a = 1 }`, "resource \"q\" {\n  type      = \"${type.aws}#data.aws_q\"\n  read_only = true"},
		"a block of old": {"moved {\n  from = module.m[\"a\"].aws_x.o[1]\n  to   = aws_x.n\n}",
			"from = module.m[\"a\"].resource.o[1]"},
		"what was let go": {"removed {\n  from = aws_q.gone\n  lifecycle {\n    destroy = false\n  }\n}", "from = resource.gone\n  lifecycle {\n    destroy = false"},
		"own condition":   {"resource \"aws_z\" \"z\" {\n  lifecycle {\n    postcondition {\n      condition = self.id != \"\"\n      error_message = \"no\"\n    }\n  }\n}", "condition     = self.state.id"},
		"a remote state in a file": {"data \"terraform_remote_state\" \"a_b\" {\n  backend = \"local\"\n  config = { path = \"../net/terraform.tfstate\" }\n}\n" +
			"output \"o\" { value = data.terraform_remote_state.a_b.outputs.vpc }",
			"remote_state \"a_b\" {\n  url = \"../net/deployster.state.json\"\n}\n\noutput \"o\" {\n  value = remote_state.a_b.outputs.vpc\n}"},
		"a remote state in a bucket": {"data \"terraform_remote_state\" \"n\" {\n  backend = \"s3\"\n  config = {\n    bucket = \"acme\"\n    key = \"net/prod.tfstate\"\n    region = \"eu-west-1\"\n  }\n}",
			"url = \"s3://acme/net/prod?region=eu-west-1\""},
		"a remote state elsewhere": {"data \"terraform_remote_state\" \"n\" {\n  backend = \"remote\"\n  config = { organization = \"acme\" }\n}\n" +
			"resource \"aws_z\" \"z\" { id = data.terraform_remote_state.n.outputs.ids[0] }", "remote_state \"n\" {\n  url = var.state_of_n\n}"},
		"a heredoc": {"output \"a\" {\n  value = <<-E\n    ${aws_x.n.id} and $${aws_x.n.id}\n  E\n}", "${resource.n.state.id} and $${aws_x.n.id}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := c.config + "\nresource \"aws_x\" \"n\" {}\nresource \"aws_x\" \"many\" { count = 2 }\nresource \"aws_x\" \"keyed\" { for_each = { a = 1 } }\n"
			if strings.Contains(c.config, "data.aws_y") {
				config += "data \"aws_y\" \"n\" {}\n"
			}
			made, err := Run(Options{Dir: directory(t, map[string]string{"main.tf": config})})
			if err != nil {
				t.Fatal(err)
			}
			if got := string(made.Files["main.hcl"]); !strings.Contains(got, c.want) {
				t.Errorf("got:\n%s\nwithout:\n%s", got, c.want)
			}
		})
	}
}

func TestRun_Refuses(t *testing.T) {
	t.Parallel()
	state := func(instance string) string {
		return `{"version":4,"resources":[{"mode":"managed","type":"aws_x","name":"n","instances":[` + instance + `]}]}`
	}
	for name, c := range map[string]struct{ config, state, want string }{
		"a provisioner": {config: "resource \"aws_x\" \"n\" {\n  provisioner \"local-exec\" {}\n}", want: "main.tf:2: aws_x.n has one"},
		"a connection":  {config: "resource \"aws_x\" \"n\" {\n  connection {}\n}", want: "A provisioner"},
		"create_before_destroy": {config: "resource \"aws_x\" \"n\" {\n  lifecycle { create_before_destroy = true }\n}\n" +
			"resource \"aws_y\" \"m\" { depends_on = [aws_x.n] }", want: "main.tf:2: aws_x.n has it"},
		"create_before_destroy of what a local value says": {config: "resource \"aws_x\" \"n\" {\n  lifecycle { create_before_destroy = true }\n}\n" +
			"locals { a = [for i in [1] : \"${aws_x.n.id}\"] }", want: "main.tf:2: aws_x.n has it"},
		"an ephemeral block":       {config: `ephemeral "aws_x" "n" {}`, want: "ephemeral blocks are not supported"},
		"an ephemeral variable":    {config: `variable "v" { ephemeral = true }`, want: `"v" is one`},
		"a move between types":     {config: "moved {\n  from = aws_x.n\n  to = aws_y.n\n}", want: "aws_x.n became aws_y.n"},
		"many remote states":       {config: "data \"terraform_remote_state\" \"s\" {\n  count = 2\n}", want: "s has count. Remove it"},
		"terraform's own resource": {config: `resource "terraform_data" "s" {}`, want: "terraform_data"},
		"a block of settings":      {config: "terraform {\n  unknown \"aws\" {}\n}", want: "unknown is not supported"},
		"a function of a provider": {config: `output "o" { value = provider::aws::arn_parse("a") }`, want: "provider::aws::arn_parse does not exist here"},
		"a module that is away":    {config: `module "m" { source = "hashicorp/consul/aws" }`, want: "run `terraform init` first"},
		"an unlocked provider":     {config: `resource "gcp_x" "n" {}`, want: "no registry.terraform.io/hashicorp/gcp"},
		"an unknown block":         {config: `thing "a" {}`, want: "thing blocks are not supported"},
		"data in a check":          {config: "check \"c\" {\n  data \"aws_x\" \"n\" {}\n}", want: "Move it out of the check"},
		"what cannot be read":      {config: `resource {`, want: "Cannot read the configuration"},
		"a deposed object": {config: `resource "aws_x" "n" {}`, state: state(`{"deposed":"0a","attributes":{"id":"1"}}`),
			want: "A deposed object"},
		"an orphan": {config: `resource "aws_x" "m" {}`, state: state(`{"attributes":{"id":"1"}}`), want: "The state has aws_x.n"},
		"an old instance": {config: `resource "aws_x" "n" {}`, state: state(`{"attributes_flat":{"id":"1"}}`),
			want: "terraform 0.11"},
		"an old state": {config: `resource "aws_x" "n" {}`, state: `{"version":3}`, want: "is of version 3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"main.tf": c.config}
			if c.state != "" {
				files["terraform.tfstate"] = c.state
			}
			made, err := Run(Options{Dir: directory(t, files)})
			if err == nil || !strings.Contains(err.Error(), c.want) || made.Files != nil || made.Snapshot.Resources != nil {
				t.Errorf("error %v, want %q; files %v", err, c.want, made.Files)
			}
		})
	}
}

// A move of a module does not move what is in the modules that it calls.
func TestMovedModule_IsThatOfTheAddress(t *testing.T) {
	t.Parallel()
	body, diags := hclsyntax.ParseConfig([]byte("moved {\n  from = module.a[\"x\"]\n  to = module.b\n}"), "main.tf", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	root, b := &module{}, &module{}
	root.files = []*file{{body: body.Body.(*hclsyntax.Body)}}
	root.calls = map[string]*call{"b": {module: b}}
	for address, want := range map[string]*module{"module.a": b, `module.a["y"]`: b, `module.a["x"].module.c`: nil, "module.c": nil, "": nil} {
		if got := root.movedModule(address); got != want {
			t.Errorf("%q: moved %t", address, got != nil)
		}
	}
}

// A state is taken over value for value: instances, what is tainted, what is private.
func TestRun_TakesTheState(t *testing.T) {
	t.Parallel()
	dir := directory(t, map[string]string{
		"main.tf":   "resource \"aws_x\" \"n\" {\n  for_each = {}\n}\nmodule \"m\" {\n  source = \"./m\"\n}\n",
		"m/main.tf": "resource \"aws_x\" \"n\" {\n  count = 1\n}\n",
		"terraform.tfstate": `{"version":4,"outputs":{"o":{"value":[1.50],"type":["list","number"],"sensitive":true}},"resources":[
{"mode":"data","type":"aws_x","name":"gone","instances":[{"attributes":{}}]},
{"mode":"managed","type":"aws_x","name":"n","instances":[{"index_key":"a/\"b","schema_version":3,"attributes":{"n":12345678901234567890},"private":"AQI="}]},
{"module":"module.m","mode":"managed","type":"aws_x","name":"n","instances":[{"index_key":0,"status":"tainted","schema_version":0,"attributes":{"id":null}}]}]}`,
	})
	now := time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC)
	made, err := Run(Options{Dir: dir, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{ // the first is declared by no instance, so that it is only begun
		`n["a/\"b"]`:    `{"kind":"aws_x","version":3,"state":{"n":12345678901234567890},"private":"AQI="}`,
		`module.m.n[0]`: `{"kind":"aws_x","version":0,"state":{"id":null},"tainted":true}`,
	}
	for address, memory := range want {
		if e := made.Snapshot.Resources[address]; string(e.Memory) != memory || e.Incomplete() != (address[0] == 'n') || e.ValidAt.Equal(now) == e.Incomplete() || e.Type != "tf/aws:5.31.0#aws_x" {
			t.Errorf("%s is %+v with %s", address, e, e.Memory)
		}
	}
	if len(made.Snapshot.Resources) != len(want) || string(made.Snapshot.Outputs["o"].Value) != "[1.50]" || !made.Snapshot.Outputs["o"].Sensitive {
		t.Errorf("the snapshot is %+v", made.Snapshot)
	}
}

// What is recorded is the config that the new manifests make of the recorded states and of
// what variables are for terraform. What is ignored, and what cannot be told, is as the state
// has it, but for what is computed within a block.
func TestRun_RecordsConfigs(t *testing.T) {
	t.Parallel()
	dir := directory(t, map[string]string{
		"main.tf": `
variable "file" {}
variable "env" {}
variable "unset" {}
variable "secret" { sensitive = true }
provider "aws" {
  region = var.env
  token  = var.secret
}
data "aws_d" "d" {}
resource "aws_x" "first" {
  name = var.file
  key  = var.unset
  tags = { a = "written" }
  disk { size = 1 }
  lifecycle { ignore_changes = [tags, disk] }
}
resource "aws_y" "many" {
  count = length(aws_x.first.parts)
  of    = "${aws_x.first.id}-${data.aws_d.d.id}"
  hides = aws_x.first.password
  at    = timestamp()
  lifecycle { prevent_destroy = true }
}
`,
		"terraform.tfvars": "file = \"weak\"\n", "z.auto.tfvars": "file = \"strong\"\n",
		"terraform.tfstate": `{"version":4,"resources":[
{"mode":"data","type":"aws_d","name":"d","instances":[{"attributes":{"id":"d1"}}]},
{"mode":"managed","type":"aws_x","name":"first","instances":[{"attributes":{"id":"x1","name":"old","key":"k","tags":{"a":"other","b":"more"},
"disk":[{"size":2,"device":"/dev/a"}],"parts":[1,2],"password":"p"},"sensitive_attributes":[[{"type":"get_attr","value":"password"}]]}]},
{"mode":"managed","type":"aws_y","name":"many","instances":[{"index_key":0,"attributes":{"id":"y0","at":"then"}},{"index_key":1,"attributes":{"id":"y1","at":null}}]}]}`,
	})
	made, err := Run(Options{Dir: dir, Environ: []string{"TF_VAR_env=e", "TF_VAR_secret=s", "TF_VAR_file=weakest", "DEPLOYSTER_VAR_env=own"}})
	if err != nil {
		t.Fatal(err)
	}
	const provider = `"provider":{"region":"own","token":"s"}`
	for address, want := range map[string]struct{ config, sensitive string }{
		"first":   {`{"disk":[{"size":2}],"key":"k","name":"strong",` + provider + `,"tags":{"a":"other","b":"more"}}`, "/password /provider/token"},
		"many[0]": {`{"at":"then","hides":"p","of":"x1-d1",` + provider + `}`, "/hides /provider/token"},
		"many[1]": {`{"hides":"p","of":"x1-d1",` + provider + `}`, "/hides /provider/token"},
	} {
		e := made.Snapshot.Resources[address]
		if e.Incomplete() || string(e.Config) != want.config || strings.Join(e.Sensitive.Config, " ") != want.sensitive || string(e.State) != "null" {
			t.Errorf("%s: %s, sensitive %q, state %s", address, e.Config, e.Sensitive.Config, e.State)
		}
		if many := address != "first"; e.PreventDestroy != many || slices.Contains(e.Dependencies, "first") != many {
			t.Errorf("%s: protected %t, after %q", address, e.PreventDestroy, e.Dependencies)
		}
	}
	if text := string(made.Files["main.hcl"]); !strings.Contains(text, "  defaults = {\n    provider = {\n      region = var.env\n") {
		t.Errorf("the provider is no default: %s", text)
	}
	if notes := strings.Join(made.Notes, "\n"); !strings.Contains(notes, "TF_VAR_unset") {
		t.Errorf("it does not say which variable has no value: %s", notes)
	}
}

// A provider with a config is a type block with defaults, where it is clear which one a
// module means; else the module is given the config.
func TestRun_Providers(t *testing.T) {
	t.Parallel()
	dir := directory(t, map[string]string{
		"main.tf": `
# the usual one
provider "aws" {
  region = "eu" # there
}
provider "aws" {
  alias  = "us"
  region = "us"
}
provider "aws" { alias = "bare" }
resource "aws_x" "eu" {}
resource "aws_x" "us" { provider = aws.us }
resource "aws_x" "bare" { provider = aws.bare }
module "one" {
  source    = "./one"
  providers = { aws = aws.us }
}
module "a" { source = "./two" }
module "b" {
  source    = "./two"
  providers = { aws = aws.us }
}
module "own" { source = "./own" }
`,
		"one/main.tf": "resource \"aws_x\" \"in\" {}\nmodule \"deep\" { source = \"../deep\" }\nmodule \"two\" { source = \"../two\" }\n",
		"deep/x.tf":   "resource \"aws_x\" \"in\" {}\n",
		"two/x.tf":    "resource \"aws_x\" \"in\" {}\n",
		"own/x.tf":    "provider \"aws\" { region = \"own\" }\nresource \"aws_x\" \"in\" {}\n",
	})
	made, err := Run(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	image := "  image    = \"tf/aws:5.31.0\"\n"
	for file, want := range map[string][]string{
		"main.hcl": {"# the usual one\nlocals {\n  provider_aws = {\n    region = \"eu\" # there\n  }\n}\n\ntype \"aws\" {\n" + image +
			"  defaults = { provider = local.provider_aws }\n}",
			"type \"aws_us\" {\n" + image + "  defaults = { provider = local.provider_aws_us }\n}", "type \"aws_bare\" {\n  image = \"tf/aws:5.31.0\"\n}",
			`type = "${type.aws}#aws_x"`, `type = "${type.aws_us}#aws_x"`, `type = "${type.aws_bare}#aws_x"`,
			"source       = \"./two\"\n  provider_aws = local.provider_aws\n", "source       = \"./two\"\n  provider_aws = local.provider_aws_us\n",
			"source       = \"./one\"\n  provider_aws = local.provider_aws_us\n"},
		"one/main.hcl":      {`type = "${type.aws_us}#aws_x"`, "provider_aws = var.provider_aws"},
		"one/providers.hcl": {`variable "provider_aws" {}`},
		"deep/x.hcl":        {`type = "${type.aws_us}#aws_x"`},
		"two/x.hcl":         {`type = "${type.aws}#aws_x"`, "provider = var.provider_aws"},
		"own/x.hcl":         {"locals {\n  provider_aws = {", `type = "${type.aws}#aws_x"`, "provider = local.provider_aws"},
	} {
		for _, text := range want {
			if got := string(made.Files[file]); !strings.Contains(got, text) {
				t.Errorf("%s is without %q:\n%s", file, text, got)
			}
		}
	}
	if made.Files["deep/providers.hcl"] != nil || made.Files["types.hcl"] != nil {
		t.Errorf("too much: %s%s", made.Files["deep/providers.hcl"], made.Files["types.hcl"])
	}
}

// Modules from elsewhere come along with what lies beside them.
func TestRun_BringsModulesAlong(t *testing.T) {
	t.Parallel()
	dir := directory(t, map[string]string{
		"root/main.tf":                         "module \"a\" {\n  source = \"../shared\"\n}\nmodule \"b\" {\n  source = \"org/b/aws\"\n  version = \"1.0\"\n}\n",
		"root/.terraform/modules/modules.json": `{"Modules":[{"Key":"","Dir":"."},{"Key":"b","Dir":".terraform/modules/b"}]}`,
		"root/.terraform/modules/b/main.tf":    "output \"o\" { value = file(\"${path.module}/f.txt\") }\n",
		"root/.terraform/modules/b/f.txt":      "text",
		"shared/main.tf":                       "output \"o\" { value = 1 }\n",
	})
	made, err := Run(Options{Dir: filepath.Join(dir, "root")})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"main.hcl": "# A copy of org/b/aws 1.0. Once its manifests are published, the source can be \"oci://HOST/org/b/aws:1.0\".\n  source = \"./modules/b\"", "modules/a/main.hcl": "value = 1",
		"modules/b/main.hcl": `file("modules/b/f.txt")`, "modules/b/f.txt": "text"} {
		if got := string(made.Files[name]); !strings.Contains(got, want) {
			t.Errorf("%s is %q, without %q", name, got, want)
		}
	}
}

// Modules are told the workspace as a variable, of which the root module knows the value.
func TestRun_GivesTheWorkspace(t *testing.T) {
	t.Parallel()
	dir := directory(t, map[string]string{
		".terraform/environment": "blue",
		"main.tf":                "module \"a\" {\n  source = \"./a\"\n}\nmodule \"no\" {\n  source = \"./no\"\n}\n",
		"a/providers.tf":         "locals { x = 1 }\nmodule \"b\" {\n  source = \"./b\"\n}\n",
		"a/b/main.tf":            "output \"o\" { value = \"in-${terraform.workspace}\" }\n",
		"no/main.tf":             "output \"o\" { value = 1 }\n",
	})
	made, err := Run(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	const given = "terraform_workspace = var.terraform_workspace"
	for name, want := range map[string]string{"types.hcl": "variable \"terraform_workspace\" {\n  default = \"blue\"", "main.hcl": given,
		"a/providers.hcl": given, "a/more-providers.hcl": `variable "terraform_workspace" {}`, "a/b/providers.hcl": `variable "terraform_workspace" {}`,
		"a/b/main.hcl": `"in-${var.terraform_workspace}"`} {
		if got := string(made.Files[name]); !strings.Contains(got, want) {
			t.Errorf("%s is %q, without %q", name, got, want)
		}
	}
	if got := string(made.Files["main.hcl"]); strings.Count(got, given) != 1 || made.Files["no/providers.hcl"] != nil {
		t.Errorf("a module that does not ask is told: %s", got)
	}
}

// Nothing is replaced, and of what cannot be written as a whole nothing stays.
func TestWrite_AllOrNothing(t *testing.T) {
	t.Parallel()
	dir := directory(t, map[string]string{"z.hcl": "own"})
	err := Result{Files: map[string][]byte{"a.hcl": []byte("a"), "m/b.hcl": []byte("b"), "z.hcl": []byte("z")}}.Write(dir)
	if err == nil || !strings.Contains(err.Error(), "A file exists already") {
		t.Errorf("it says %v", err)
	}
	for name, there := range map[string]bool{"a.hcl": false, "m/b.hcl": false, "z.hcl": true} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != there {
			t.Errorf("%s: %v", name, err)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "z.hcl")); err != nil || string(text) != "own" {
		t.Errorf("z.hcl is %q, %v", text, err)
	}
}
