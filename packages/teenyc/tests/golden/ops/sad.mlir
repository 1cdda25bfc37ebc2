// (x00_ptr: Ptr[i32], x01_ptr: Ptr[i32], x02_ptr: Ptr[u32], out0_ptr: Ptr[i32], x10_ptr: Ptr[u32], x11_ptr: Ptr[u32], x12_ptr: Ptr[u32], out1_ptr: Ptr[u32])
// o = tl.arange(0, 16)
// tl.store(out0_ptr + o, tl.math.sad(tl.load(x00_ptr + o), tl.load(x01_ptr + o), tl.load(x02_ptr + o)))
// tl.store(out1_ptr + o, tl.math.sad(tl.load(x10_ptr + o), tl.load(x11_ptr + o), tl.load(x12_ptr + o)))
module {
  tt.func public @sad_entry_point(%x00_ptr: !tt.ptr<i32>, %x01_ptr: !tt.ptr<i32>, %x02_ptr: !tt.ptr<i32>, %out0_ptr: !tt.ptr<i32>, %x10_ptr: !tt.ptr<i32>, %x11_ptr: !tt.ptr<i32>, %x12_ptr: !tt.ptr<i32>, %out1_ptr: !tt.ptr<i32>) attributes {noinline = false} {
    %o = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %splat = tt.splat %out0_ptr : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %addptr = tt.addptr %splat, %o : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    %splat_1 = tt.splat %x00_ptr : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %addptr_1 = tt.addptr %splat_1, %o : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    %load = tt.load %addptr_1 : tensor<16x!tt.ptr<i32>>
    %splat_2 = tt.splat %x01_ptr : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %addptr_2 = tt.addptr %splat_2, %o : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    %load_1 = tt.load %addptr_2 : tensor<16x!tt.ptr<i32>>
    %splat_3 = tt.splat %x02_ptr : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %addptr_3 = tt.addptr %splat_3, %o : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    %load_2 = tt.load %addptr_3 : tensor<16x!tt.ptr<i32>>
    %extern_elementwise = tt.extern_elementwise %load, %load_1, %load_2 {libname = "", libpath = "", pure = true, symbol = "__nv_sad"} : (tensor<16xi32>, tensor<16xi32>, tensor<16xi32>) -> tensor<16xi32>
    tt.store %addptr, %extern_elementwise : tensor<16x!tt.ptr<i32>>
    %splat_4 = tt.splat %out1_ptr : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %addptr_4 = tt.addptr %splat_4, %o : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    %splat_5 = tt.splat %x10_ptr : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %addptr_5 = tt.addptr %splat_5, %o : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    %load_3 = tt.load %addptr_5 : tensor<16x!tt.ptr<i32>>
    %splat_6 = tt.splat %x11_ptr : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %addptr_6 = tt.addptr %splat_6, %o : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    %load_4 = tt.load %addptr_6 : tensor<16x!tt.ptr<i32>>
    %splat_7 = tt.splat %x12_ptr : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %addptr_7 = tt.addptr %splat_7, %o : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    %load_5 = tt.load %addptr_7 : tensor<16x!tt.ptr<i32>>
    %extern_elementwise_1 = tt.extern_elementwise %load_3, %load_4, %load_5 {libname = "", libpath = "", pure = true, symbol = "__nv_usad"} : (tensor<16xi32>, tensor<16xi32>, tensor<16xi32>) -> tensor<16xi32>
    tt.store %addptr_4, %extern_elementwise_1 : tensor<16x!tt.ptr<i32>>
    tt.return
  }
}
