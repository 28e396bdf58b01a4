output "b" { value = convert("1", nmber) }
# error 1:35 not a valid type
