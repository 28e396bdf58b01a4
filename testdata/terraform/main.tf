# The whole of it.
terraform {
  required_version = ">= 1.5"
  required_providers {
    test = { source = "example.com/test/test" }
    time = {
      source  = "hashicorp/time"
      version = "~> 0.14"
    }
  }
  backend "local" {}
}

variable "world" {
  type        = string
  description = "Where the things are"
}
variable "names" {
  type    = set(string)
  default = ["a", "b"]
}
variable "secret" {
  default   = "sesame"
  sensitive = true
  validation {
    condition     = length(var.secret) > 3 # not too short
    error_message = "too short"
  }
}

provider "test" {
  world = var.world # the service
  token = var.secret
}
provider "test" {
  alias  = "other"
  world  = var.world
  region = "elsewhere"
}

locals {
  days = 7
  all  = [for k, o in test_object.each : o.id]
}

# A file of this project, of which its provider gets the path.
resource "local_file" "note" {
  filename = "${path.module}/note.txt"
  content  = "a note"
}

# A time.
resource "time_offset" "week" {
  offset_days = local.days # days
  triggers = {
    # a comment within
    a = "x"
  }
  lifecycle {
    ignore_changes = [base_rfc3339, triggers["a"]]
  }
}

resource "test_object" "each" {
  for_each = var.names
  label    = "each-${each.key}"
  value    = "v ${time_offset.week.rfc3339}"
  lifecycle {
    prevent_destroy = false
    postcondition {
      condition     = self.id != ""
      error_message = "no id"
    }
  }
}

resource "test_object" "counted" {
  count      = 2
  provider   = test.other
  label      = "counted-${count.index}"
  value      = test_object.each["a"].id
  depends_on = [test_object.each, module.box]
}

resource "time_static" "week" {
  triggers = { ids = join(",", test_object.counted[*].id), all = join(",", local.all), m = module.box["x"].ids }
}

resource "test_object" "renamed" {
  label = "renamed"
}
moved {
  from = test_object.old
  to   = test_object.renamed
}

module "box" {
  source   = "./modules/box"
  for_each = { x = 1, y = 2 }
  label    = "box-${each.key}"
  providers = {
    test = test.other
  }
}

data "test_text_both" "looked" {
  thing = "${path.module}/x"
  label = "looked"
}

check "week" {
  assert {
    condition     = time_offset.week.day > 0
    error_message = "no day: ${time_offset.week.day}"
  }
}

output "ids" {
  value       = { for k, o in test_object.each : k => o.id }
  description = "Of all"
}
output "counted" { value = test_object.counted[0].id }
output "secret" {
  value     = var.secret
  sensitive = true
}
