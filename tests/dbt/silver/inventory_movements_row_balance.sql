{{ row_balance(accepted=ref('inventory_movements'), rejected=ref('rejected_inventory_movements')) }}
