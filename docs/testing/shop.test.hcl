# shop.test.hcl
case "a database that exists is not touched" {
  variables = { backups = ["eu"] }
  world     = { "acme/vm:1" = { db = { ip = "10.0.0.1" } } }
  assert {
    condition     = plan.resources["db"].change == "valid"
    error_message = "db would get the change ${plan.resources["db"].change}"
  }
  assert {
    condition     = plan.resources["backup[\"eu\"]"].config.from == "10.0.0.1"
    error_message = "the backup does not read from the database"
  }
}

case "a larger one is updated, and loses its backup" {
  follows   = "a database that exists is not touched"
  variables = { size = 4, backups = [] }
  assert {
    condition     = plan.summary.update == 1 && plan.summary.destroy == 1
    error_message = jsonencode(plan.summary)
  }
}

case "it is not too large" {
  variables     = { size = 9 }
  expect_errors = ["at most 8 processors"]
}

case "somebody has removed it" {
  follows = "a larger one is updated, and loses its backup"
  world   = { "acme/vm:1" = { db = null } }
  assert {
    condition     = plan.resources["db"].change == "create"
    error_message = "a database that is gone is created again"
  }
}
