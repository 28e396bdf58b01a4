terraform {
  required_providers {
    time = { source = "hashicorp/time" }
  }
}

variable "days" {
  type    = map(number)
  default = { week = 7, year = 365 }
}

# When certificates are renewed.
resource "time_offset" "renew" {
  for_each    = var.days
  offset_days = each.value

  lifecycle {
    prevent_destroy = false
  }
}

resource "time_static" "begun" {
  triggers = { after = time_offset.renew["week"].rfc3339 }
}

output "renew" {
  value = { for name, offset in time_offset.renew : name => offset.rfc3339 }
}
